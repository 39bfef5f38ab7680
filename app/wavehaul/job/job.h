/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_JOB_H
#define WH_APP_JOB_H

/*
 * A job: its request, and what comes of it at this end. Each part has one writer, which its comment
 * names: the maker (a client's verb; a server's core that accepts), the core that accepts the
 * peer's stream, or the job's crew.
 */

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "errand/errand.h"
#include "errand/reader.h"
#include "host/ground.h"
#include "job/convoy.h"
#include "job/hello.h"
#include "job/peers.h"
#include "job/pump.h"
#include "job/watch.h"
#include "sink/sink.h"
#include "source/source.h"

#define WH_ANSWER_CHUNKS 4 /* of streams of answers */

/* Names of sessions, in OPEN. */
#define WH_JOB_NAME   "job"
#define WH_REPLY_NAME "reply %016" PRIx64

/* Whether the peer's session to us may come, or has. */
enum wh_seat_state {
	WH_SEAT_FREE = 0,
	WH_SEAT_TAKING, /* the core that accepts is at it */
	WH_SEAT_TAKEN,  /* `in` is set */
	WH_SEAT_SHUT,   /* the job has ended before */
};

enum wh_job_role {
	WH_AT_CLIENT = 0, /* which asks */
	WH_AT_SERVER,     /* which does what it is asked for */
};

enum wh_job_state {
	WH_JOB_OPENING,  /* server: HELLO is awaited; client: nothing was done yet */
	WH_JOB_GREETED,  /* client: READY is awaited */
	WH_JOB_REFUSING, /* server: the client is to read why */
	WH_JOB_RUNNING,
	WH_JOB_ENDING, /* over; the peer is still being told */
	WH_JOB_OVER,   /* both sessions are gone */
};

struct wh_jobs;
struct wh_crew;

/* Of a session of ours. */
struct wh_job_memory {
	uint8_t *chunks; /* of the arena; NULL: none */
	uint64_t table_bytes;
	uint64_t charged_bytes; /* to the peer: both */
};

/* Of the session that carries the data, when the job ends. */
struct wh_job_figures {
	struct wh_session_stats stats;
	uint64_t rtt_ns;
	uint64_t rtt_min_ns; /* 0: none was measured */
	enum wh_limit limited_by;
	uint64_t lateness_ns[3];    /* p50, p99, p99.9; of the sending end */
	struct wh_known_path found; /* likewise, of a job that did not fail */
	bool digest_known;          /* of the last large file that went or came */
	struct wh_digest digest;
};

/* Where it goes on, and its numbers. The maker's; the numbers of a server's are its crew's. */
struct wh_job_place {
	uint32_t shard;
	struct wh_address peer;
	struct wh_peer
		*guest;    /* server: what the peer has of this host, as long as it has a place */
	uint32_t lane;     /* of request.lanes */
	uint64_t transfer; /* the same of all its lanes */
	uint64_t reply;    /* the number in the server's stream's name */
};

/* rights/: what a server's peer may do. The number is the accepting core's, the rest the crew's. */
struct wh_job_rights {
	uint64_t number;        /* of the store's answer; 0: nobody has asked who it is */
	bool entered;           /* it counts among the peer's jobs */
	bool has_folder;        /* a right of its own, opened */
	int folder_fd;          /* that folder */
	uint64_t rate_bps;      /* the most of what it gets; 0: nobody has said */
	uint32_t changes;       /* of the store, when it was looked at */
	uint64_t counted_bytes; /* that the peer was charged */
};

/* Whom a job tells what, on its crew's core. The maker's. */
struct wh_job_listener {
	const _Atomic bool *gate; /* before its stream ends; NULL: nothing to wait for */
	void (*on_file)(void *context, const struct wh_file_result *result);
	void (*on_report)(void *context, const struct wh_bench_report *report);
	const struct wh_errand_listener *errand; /* of an errand */
	void *context;
};

/* The peer's stream. The accepting core's, until it is taken; then nobody's but its memory. */
struct wh_job_seat {
	_Atomic int state; /* enum wh_seat_state */
	struct wh_session *in;
	struct wh_job_memory memory; /* the crew's, once taken */
};

/* What is wished of a job that runs. Any core's; the crew looks. */
struct wh_job_wishes {
	_Atomic bool hurry;        /* an end */
	_Atomic uint64_t rate_bps; /* of its request; WH_RATE_MAX for all its life if that is */
};

/* What any core may look at. The crew's. */
struct wh_job_view {
	_Atomic int state;               /* enum wh_job_state */
	_Atomic uint64_t flow_began_tsc; /* first bytes that were read here or, of a bench, came */
	_Atomic uint64_t bytes_found;    /* of a bundle so far ... */
	_Atomic uint64_t files_found;    /* ... likewise; of this lane alone */
	_Atomic bool all_found;          /* they are all that there are */
	_Atomic uint64_t moved_bytes;    /* payload sent and acknowledged, or received */
	_Atomic uint64_t sent_pkts;      /* or received and found missing */
	_Atomic uint64_t lost_pkts;      /* of these */
	_Atomic uint64_t again_pkts;
	_Atomic uint64_t repair_pkts;          /* sent, or received */
	_Atomic int limit_now;                 /* enum wh_limit, of the sending end ... */
	_Atomic uint64_t limit_tsc[WH_LIMITS]; /* how long each has limited it so far */
	_Atomic uint64_t rate_now_bps;
	_Atomic uint32_t window_now_pkts; /* ... as these are; 0: not known, or no bound */
	_Atomic uint64_t rtt_now_ns;
	_Atomic uint64_t rtt_min_ns; /* 0: none was measured */
	_Atomic uint64_t wire_bytes; /* sent, each packet counted as a full one */
	struct wh_totals totals;     /* read by wh_job_totals */
};

/* A client's: what its streams are sealed by. The crew's, before they open. */
struct wh_job_sealed {
	enum wh_cipher cipher; /* 0: nothing is sealed */
	uint8_t peer_id[WH_IDENTITY_BYTES];
};

/* A client's: what READY has said. The crew's, before the state is RUNNING. */
struct wh_job_ready {
	uint64_t began_tsc; /* when it came; 0: not yet, likewise: */
	uint16_t queues;
	bool as_name;
};

/* What became of it. The crew's; others read it once the state is ENDING, its figures once OVER. */
struct wh_job_result {
	enum wh_release_status failed; /* PENDING: nothing did */
	char why[256];
	bool stalled;       /* by our watch: `why` says who waits for whom */
	int refused_error;  /* errno of REFUSED */
	uint8_t peer_least; /* versions of packets that the server speaks, if not ours; 0: ours */
	uint8_t peer_most;
	uint64_t ended_tsc;
	struct wh_bench_report final; /* when the last byte had come */
	struct wh_tally tally;        /* of an errand, as the server says */
	struct wh_job_figures figures;
};

/* When the crew looks at it. The crew's, once it has come. */
struct wh_job_turn {
	uint64_t came_tsc;
	uint64_t worked_tsc;
	uint64_t noted_tsc;   /* when others were told what they may see */
	uint64_t give_up_tsc; /* of what is awaited */
};

/* Our stream, and what is left of both. The crew's, as are all parts that follow. */
struct wh_job_streams {
	struct wh_bond *bond;   /* of both, held; NULL: they are not sealed */
	struct wh_session *out; /* NULL: none was opened */
	uint32_t out_chunks;
	struct wh_job_memory out_memory;
	bool in_left; /* let go of */
	bool out_left;
	bool in_gone;
	bool out_gone;
};

/* Single records before the bundle, or beside a bench. */
struct wh_job_records {
	char **paths;             /* server: request.here's, each ended by a NUL */
	uint32_t posted;          /* chunks of single records that went out */
	uint64_t record_bytes;    /* that came, in chunks of one record */
	struct wh_chunk *reading; /* between wh_job_read and wh_job_read_done */
	struct wh_chunk end_marker;
	uint8_t their_version; /* of the last HELLO that could not be read ... */
	uint64_t their_reply;  /* ... and its number */
};

/* What it has in common with the other lanes of its transfer. */
struct wh_job_lanes {
	struct wh_convoy *convoy;   /* NULL: this lane is alone */
	struct wh_lane_share share; /* of the rate of all lanes; share NULL: has none */
};

/* What reads, writes or measures here. */
struct wh_job_ends {
	struct wh_source *source;
	struct wh_sink *sink;
	struct wh_errand *errand;        /* server ... */
	struct wh_desk_place *desk;      /* ... of an order */
	uint64_t polled_tsc;             /* when it was polled last */
	struct wh_errand_reader *reader; /* client, of an errand */
	struct wh_pump pump;             /* session NULL: none */
	bool sink_told;                  /* that the peer's stream is in its place */
	struct wh_bench_report reported; /* client that sends: what the server said last */
	uint64_t next_report_tsc;
	bool reports_ended;
};

/* waits.c: whether it gets on, here and there. */
struct wh_job_waits {
	struct wh_watch watch;
	uint64_t worked; /* what was done here */
	uint64_t next_tell_tsc;
	uint64_t told_bytes;  /* sent when the peer was told last */
	uint64_t waits_heard; /* how often the peer has told, when it was */
	bool rate_untold;     /* another rate is wished for of the peer, who has not heard of it */
	uint64_t rate_told_bps;
	uint64_t rate_heard_bps; /* that the peer has wished for last */
};

struct wh_job {
	TAILQ_ENTRY(wh_job) next;     /* the crew's */
	TAILQ_ENTRY(wh_job) awaiting; /* its reply: under the lock of jobs.h */
	struct wh_jobs *jobs;         /* the maker's, as are: */
	struct wh_crew *crew;
	enum wh_job_role role;
	struct wh_request request; /* a server's crew makes it anew of HELLO */
	struct wh_job_place place;
	struct wh_job_rights rights;
	struct wh_job_listener listener;
	struct wh_job_wishes wishes;
	struct wh_job_seat seat;
	struct wh_job_view view;
	struct wh_job_sealed sealed;
	struct wh_job_ready ready;
	struct wh_job_result result;
	struct wh_job_turn turn;
	struct wh_job_streams streams;
	struct wh_job_records records;
	struct wh_job_lanes lanes;
	struct wh_job_ends ends;
	struct wh_job_waits waits;
};

TAILQ_HEAD(wh_job_list, wh_job);

/*
 * A client's job for one of the request's lanes, not started: the caller fills in the rest of its
 * place, and the listener. It stays the caller's to read when it is over, and to free. NULL: no
 * memory.
 */
struct wh_job *wh_job_create(struct wh_jobs *jobs, const struct wh_request *request, uint32_t lane);

/* Hands it to a crew. */
void wh_job_start(struct wh_job *job, uint64_t now_tsc);
void wh_job_free(struct wh_job *job);

/* Any core, as long as the job is there: it is to end. */
static inline void wh_job_hurry(struct wh_job *job)
{
	atomic_store_explicit(&job->wishes.hurry, true, memory_order_relaxed);
}

/*
 * Any core, likewise: the job goes on by what can change of `request` while it runs, which is its
 * rate; where the peer sends it is asked to. False: what is sent has none, or the new one is none.
 */
bool wh_job_change(struct wh_job *job, const struct wh_request *request);

/*
 * memory.c: memory of sessions, charged to their peers. Chunks of a bundle's sender; memory for
 * them, NULL: there is none, or the peer may not have it; and back.
 */
uint32_t wh_job_sender_chunks(const struct wh_job *job, uint64_t stride_bytes);
/* What a receiver of such a stream has use for. */
uint32_t wh_job_chunks_wanted(uint32_t window_pkts, uint32_t payload_bytes, uint32_t chunk_bytes);
/* What a host whose one session is to have so much is to be given. */
uint64_t wh_jobs_buffers_for(uint64_t chunk_bytes);
uint32_t wh_job_receiver_chunks(
	const struct wh_job *job, const struct wh_open_params *params, uint64_t stride_bytes);
uint8_t *wh_job_take_memory(
	struct wh_job *job, enum wh_role role, const struct wh_session_config *config);
void wh_job_give_memory(struct wh_job *job, enum wh_role role);

/* Of lists of blocks, while its ends are open. */
struct wh_blocks_account wh_job_lists(struct wh_job *job);

/* What a new session is sure to get, of chunks with that stride, where there is memory for it. */
#define WH_JOB_CHUNKS_MIN 4

/* A line about a job's peer, as long as there are not too many of them. */
void wh_job_say(const struct wh_job *job, uint64_t now_tsc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Whether the data goes out from here. */
static inline bool wh_job_sends(const struct wh_job *job)
{
	const struct wh_request *request = &job->request;

	return request->verb != WH_JOB_IDLE &&
	       wh_verb_client_sends(request->verb, request->reverse) == (job->role == WH_AT_CLIENT);
}

/* Any core: files so far. */
struct wh_totals wh_job_totals(const struct wh_job *job);

/* Any core: it ended otherwise than as it should. */
static inline bool wh_job_has_failed(const struct wh_job *job)
{
	return atomic_load(&job->view.state) >= WH_JOB_ENDING &&
	       job->result.failed != WH_STATUS_PENDING;
}

/* Any core: it is its maker's again. */
static inline bool wh_job_is_over(const struct wh_job *job)
{
	return atomic_load_explicit(&job->view.state, memory_order_acquire) == WH_JOB_OVER;
}

/* What the receiving end of a bench has counted. */
void wh_bench_count(const struct wh_job *job, uint64_t now_tsc, struct wh_bench_report *report);

/*
 * waits.c: tells the peer how it stands with this end, and ends a job in which nothing gets
 * on; `why` of one that has stalled, here or there.
 */
void wh_job_see_waits(struct wh_job *job, uint64_t now_tsc);
void wh_job_fail_stalled(struct wh_job *job, uint64_t now_tsc);

/*
 * rights/: of a server's job, whose request is known: its paths and its rate become what the peer
 * may have of them. False: it may not do that, which `why` tells it. Then, as it runs, whether that
 * still holds, and its end.
 */
#define WH_RIGHTS_WHY_BYTES 300
bool wh_job_claim_rights(struct wh_job *job, char why[WH_RIGHTS_WHY_BYTES]);
bool wh_job_see_rights(struct wh_job *job, uint64_t now_tsc);
void wh_job_drop_rights(struct wh_job *job);

/* as_server.c, as_client.c: one step of a job that has not ended; how much was done */
int32_t wh_job_server_step(struct wh_job *job, uint64_t now_tsc);
int32_t wh_job_client_step(struct wh_job *job, uint64_t now_tsc);

/* job.c: what both sides do alike */

/* Crew: the only way from one state to the next; the maker's again once it is OVER. */
void wh_job_enter(struct wh_job *job, enum wh_job_state state);

/* Crew, between two steps: asserts what its parts say of each other. */
void wh_job_check(const struct wh_job *job);

/* The peer's session, NULL as long as there is none. */
struct wh_session *wh_job_in(const struct wh_job *job);

/* Opens our session; false: no memory, no place. A bundle's has a rate and large chunks. */
bool wh_job_open_out(struct wh_job *job, const char *name, bool bundle);

/* Once the request is known: with the other lanes of its transfer, if there are. 0 or -errno. */
int wh_job_join(struct wh_job *job);

/* Everything of the peer's stream has come and is in its place. */
void wh_job_tell_sink_done(struct wh_job *job);

/* Sends a chunk of one record; false: no chunk is free now. */
bool wh_job_post(struct wh_job *job, const struct wh_record *record);
void wh_job_post_end(struct wh_job *job);

/* The record that the peer's next chunk begins with: > 0 it is there, 0 not yet, < 0 nonsense. */
int wh_job_read(struct wh_job *job, struct wh_record *record);

/* Gives back the chunk that wh_job_read's record points into. */
void wh_job_read_done(struct wh_job *job);

/*
 * ends.c: what reads, writes, looks or measures at this end. The peer's stream begins with one
 * record, ours with those posted. 0 or a negative errno, and for a sink what failed.
 */
int wh_job_open_end(struct wh_job *job, uint64_t now_tsc, enum wh_doing *doing);

/* Source, sink or pump, whichever there is, and the news of both sessions. */
int32_t wh_job_run(struct wh_job *job, uint64_t now_tsc);

/* The job has failed, for that reason; it ends with the next step. The first reason stays. */
void wh_job_fail(struct wh_job *job, enum wh_release_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The job is over but for its last words: steps to the end follow. */
void wh_job_end(struct wh_job *job, uint64_t now_tsc);

/* Both: for that reason, and at once. */
void wh_job_give_up(
	struct wh_job *job, uint64_t now_tsc, enum wh_release_status status, const char *why);

/* A step of a job that ends; true when it is over. */
bool wh_job_step_to_end(struct wh_job *job);

/* Source, sink and pump go, and with them what the sink has not committed. */
void wh_job_close_ends(struct wh_job *job);

#endif
