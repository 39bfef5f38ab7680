/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/versions.h"

#include <string.h>

#include "wire/layout.h"

#define ECHO_BYTES 88
#define KIND       1

struct answer {
	uint8_t none;
	uint8_t kind;
	uint8_t least;
	uint8_t most;
	uint8_t zero[4];
	uint8_t echo[ECHO_BYTES];
};

static_assert(sizeof(struct answer) == WH_VERSIONS_BYTES, "fixed for ever");
static_assert(WH_PACKET_OPEN == 9 && WH_PACKET_ASK == 15, "fixed for ever");
static_assert(WH_VERSIONS_BYTES <= WH_PARAMS_BYTES, "no answer is longer than the least OPEN");
static_assert(WH_VERSIONS_BYTES <= WH_HEAD_BYTES + WH_ASK_PADDING, "nor than an ASK");
static_assert(WH_WIRE_VERSION > 0 && WH_WIRE_VERSION < WH_VERSIONS_NOBODYS, "of no version");

/* The part of our OPEN or ASK that is echoed. */
struct echo {
	uint8_t head[WH_HEAD_BYTES];
	uint8_t params[WH_PARAMS_BODY];
};

static_assert(offsetof(struct echo, params) + WH_WIRE_END(wh_open_params, first_pn) <= ECHO_BYTES,
	"the echo has what tells our connections apart");

bool wh_versions_answer(const uint8_t *bytes, size_t length, uint8_t answer[WH_VERSIONS_BYTES])
{
	const struct answer fixed = {
		.kind = KIND,
		.least = WH_WIRE_VERSION,
		.most = WH_WIRE_VERSION,
	};

	if (length < WH_VERSIONS_BYTES || bytes[0] == 0 || bytes[0] == WH_WIRE_VERSION ||
		(bytes[1] != WH_PACKET_OPEN && bytes[1] != WH_PACKET_ASK))
		return false;
	memcpy(answer, &fixed, offsetof(struct answer, echo));
	memcpy(answer + offsetof(struct answer, echo), bytes, ECHO_BYTES);
	return true;
}

bool wh_versions_read(const uint8_t *bytes, size_t length, struct wh_versions *versions)
{
	static const uint8_t zero[sizeof(((struct answer *)0)->zero)];
	struct answer answer;
	struct wh_wire_head head;
	struct wh_open_params params = {0};

	if (length != sizeof(answer))
		return false;
	memcpy(&answer, bytes, sizeof(answer));
	memcpy(&head, answer.echo, sizeof(head));
	memcpy(&params, answer.echo + sizeof(head), ECHO_BYTES - sizeof(head));
	if (answer.none != 0 || answer.kind != KIND || answer.least == 0 ||
		answer.most < answer.least || memcmp(answer.zero, zero, sizeof(zero)) != 0)
		return false;
	/* A listener that speaks our version does not send this answer. */
	if (answer.least <= WH_WIRE_VERSION && answer.most >= WH_WIRE_VERSION)
		return false;
	if (head.version != WH_WIRE_VERSION ||
		(head.type != WH_PACKET_OPEN && head.type != WH_PACKET_ASK))
		return false;
	*versions = (struct wh_versions){
		.least = answer.least,
		.most = answer.most,
		.asked = head.type == WH_PACKET_ASK,
		.initiator_cid = params.initiator_cid,
		.first_pn = params.first_pn,
	};
	memcpy(&versions->handshake, head.fields, sizeof(versions->handshake));
	return true;
}

/* What the echo has of a question: the number, and its length. */
struct question {
	uint8_t version;
	uint8_t type;
	uint8_t zero[6];
	uint64_t number;
	uint32_t bytes;
	uint8_t more[ECHO_BYTES - 20];
} __attribute__((packed));

static_assert(sizeof(struct question) == ECHO_BYTES, "all of it comes back");

static struct question question_of(uint64_t number, uint32_t length)
{
	return (struct question){
		.version = WH_VERSIONS_NOBODYS,
		.type = WH_PACKET_ASK,
		.number = number,
		.bytes = length,
	};
}

void wh_versions_ask(uint8_t *bytes, uint32_t length, uint64_t number)
{
	const struct question question = question_of(number, length);

	memset(bytes, 0, length);
	memcpy(bytes, &question, ECHO_BYTES);
}

bool wh_versions_answers(
	const uint8_t *bytes, size_t length, uint64_t number, uint32_t *asked_bytes)
{
	struct answer answer;
	struct question question;

	if (length != sizeof(answer))
		return false;
	memcpy(&answer, bytes, sizeof(answer));
	memcpy(&question, answer.echo, ECHO_BYTES);
	*asked_bytes = question.bytes;
	question = question_of(number, *asked_bytes);
	return answer.none == 0 && answer.kind == KIND &&
	       memcmp(answer.echo, &question, ECHO_BYTES) == 0;
}
