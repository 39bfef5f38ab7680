/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One direction of a link as an operator describes it: rate, delay, queue, and what goes wrong.
 * lib/lab/netem emulates it.
 */

#include <stdint.h>

#define WH_LINK_OUTAGES_MAX 8

enum wh_loss_kind {
	WH_LOSS_BERNOULLI,
	WH_LOSS_GILBERT_ELLIOTT,
};

/* Gilbert-Elliott: two states, each with a loss probability; transitions are drawn per packet. */
struct wh_gilbert_elliott {
	double good_to_bad;
	double bad_to_good;
	double loss_good;
	double loss_bad;
};

struct wh_link_outage {
	uint64_t start_ns; /* since the link is up */
	uint64_t length_ns;
};

struct wh_link_model {
	uint64_t rate_bps;       /* of the line, Ethernet overhead included; 0: infinite */
	uint64_t ingress_bps;    /* of the sender's link, overhead included; 0: infinite */
	uint64_t delay_ns;       /* one way */
	uint64_t queue_bytes;    /* limit of queued wire bytes; 0: none */
	uint32_t queue_pkts;     /* limit of queued packets; 0: none */
	uint32_t queue_pkts_max; /* of all changes of the link; 0: queue_pkts */
	enum wh_loss_kind loss_model;
	double loss; /* Bernoulli */
	struct wh_gilbert_elliott gilbert_elliott;
	double bit_error; /* per bit, besides the loss model: dropped, as by an FCS */
	double corrupt;   /* delivered with one bit flipped */
	double duplicate;
	double reorder;
	uint64_t reorder_delay_ns; /* 0: a tenth of the delay, at least 10 packet times */
	uint64_t jitter_ns;        /* uniform in [0, jitter] */
	struct wh_link_outage outage[WH_LINK_OUTAGES_MAX];
	uint32_t n_outages;
	uint64_t seed;
};

/*
 * A loss model as text; 0 or -EINVAL:
 *
 *   bernoulli         independent losses
 *   ge:P,R[,H[,K]]    Gilbert-Elliott: good-to-bad P, bad-to-good R, delivered in bad H (default
 *                     0), delivered in good K (default 1)
 *   ber:E             bit error rate
 */
int wh_link_model_parse_loss(const char *text, struct wh_link_model *model);
