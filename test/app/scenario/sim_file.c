/* SPDX-License-Identifier: BSD-3-Clause */

/* Scenario files: points, what is in them, and what is refused in which line. */

#include <string.h>

#include "sim_rig.h"

const char wh_suite_name[] = "sim_file";

static const struct {
	const char *text;
	const char *said;
} refusals[] = {
	/* Form. */
	{"x = 1\n", "f:1: a [section] must come before"},
	{"[scenario]\nduration\n", "f:2: expected a [section], key = value"},
	{"[scenario]\nduration =\n", "f:2: the value is missing"},
	{"[scenario]\nduration = # 5s\n", "f:2: the value is missing"},
	{"[scenario]\n = 5s\n", "f:2: there is no key before the ="},
	{"[scenario\n", "f:1: write a section as [scenario], with nothing after it"},
	{"[net]\n", "f:1: there is no section [net]; the sections are scenario, sweep, report, "
		    "expect, fleet, link A-B, flow NAME"},
	{"[link]\n", "f:1: there is no section [link]; "},
	{"[sweep x]\n", "f:1: there is no section [sweep x]; "},
	{"[scenario]\nseed = 1\n[sweep]\n[scenario]\nseed = 2\n",
		"f:5: seed is already set at f:2"},
	{LINK LINK, "f:5: rate is already set at f:2"},
	{"[scenario]\nseed = 1\nwarmup = 1s\nseed = 2\n",
		"f:4: seed is already set at f:2; remove one of the two"},
	{"[scenario]\ntitle = a\x1b[2J\n", "f:2: it contains a control character"},
	{"[scenario]\ntitle = \xff\n", "f:2: not valid UTF-8"},

	/* What is missing. */
	{LINK FLOW, "f: [scenario] lacks duration; write for example duration = 50s"},
	{SCENARIO FLOW, "f:5: from = 'A' is no node of any link"},
	{SCENARIO LINK, "f has no flow; write [link A-B] for a link and [flow NAME] for"},
	{SCENARIO "[link A-B]\nqueue = 5\n" FLOW, "f:3: [link A-B] lacks rate; "},
	{SCENARIO "[link A-B]\nrate = 1M\n" FLOW, "f:3: [link A-B] lacks queue; "},
	{SCENARIO LINK "[flow f]\nagent = udt\nto = B\n", "f:6: [flow f] lacks from; "},
	{SCENARIO LINK "[flow f]\nfrom = A\nto = B\n", "f:6: [flow f] lacks agent; "},

	/* Keys. */
	{SCENARIO "lenght = 3\n" LINK FLOW,
		"f:3: [scenario] has no key 'lenght'; its keys are title, paper, figure, "
		"duration, warmup, interval, queue_delays, seed, repeat"},
	{WHOLE "ssthresh = 5\n", "f:10: [flow f] has no key 'ssthresh'; its keys are "},
	{WHOLE "[link B-C]\nrate = 1M\nqueue = 5\nred_weight = 0.1\n",
		"f:13: [link B-C] has no key 'red_weight'; its keys are "},

	/* Values. */
	{"[scenario]\nduration = 5\n" LINK FLOW, "f:2: duration = '5' is a number without "},
	{"[scenario]\nduration = -5s\n" LINK FLOW, "f:2: duration = '-5s' is no time from"},
	{"[scenario]\nduration = 0s\n" LINK FLOW, "f:2: duration = '0s' is not from 1ns"},
	{SCENARIO "warmup = 10s\n" LINK FLOW, "f:3: warmup = '10s' leaves nothing"},
	{SCENARIO "interval = 11s\n" LINK FLOW, "f:3: interval = '11s' is longer than"},
	{SCENARIO "repeat = 0\n" LINK FLOW, "f:3: repeat = '0' is 0; it must be from"},
	{SCENARIO "[link A-B]\nrate = 10ms\nqueue = 5\n" FLOW,
		"f:4: rate = '10ms' is a time; a number is wanted"},
	{SCENARIO "[link A-B]\nrate = 10M\nqueue = 0\n" FLOW,
		"f:5: queue = '0' is 0; it must be from 0.5 to"},
	{SCENARIO "[link A-B]\nrate = 10M\nqueue = no\n" FLOW,
		"f:5: queue = 'no' has 'no', which is no name here; there are none"},
	{SCENARIO LINK "discipline = fifo\n" FLOW,
		"f:6: discipline = 'fifo' is not one of droptail, red, codel"},
	{SCENARIO "[link A-B]\nrate = 1M\nqueue = none\ndiscipline = red\n" FLOW,
		"f:5: queue = 'none' is none, and red needs a limit"},
	{SCENARIO LINK "loss = 2\n" FLOW, "f:6: loss = '2' is 2; it must be from 0 to 1"},
	{SCENARIO LINK "gilbert_elliott = 0.1\n" FLOW,
		"f:6: gilbert_elliott = '0.1' is not understood; "},
	{SCENARIO LINK "loss = 1%\ngilbert_elliott = 0.1, 0.2\n" FLOW,
		"f:7: gilbert_elliott = '0.1, 0.2' is a loss model beside another"},
	{SCENARIO LINK "loss_burst = 20\n" FLOW, "f:6: loss_burst = '20' wants a loss"},
	{SCENARIO LINK "loss = 60%\nloss_burst = 20\n" FLOW, "f:7: loss_burst = '20' wants a loss"},
	{SCENARIO LINK "loss = 1%\nloss_burst = 0.5\n" FLOW, "f:7: loss_burst = '0.5' is 0.5; it"},
	{SCENARIO LINK "loss_burst = 2\ngilbert_elliott = 0.1, 0.2\n" FLOW,
		"f:6: loss_burst = '2' wants a loss of at most 50%, and no gilbert_elliott"},
	{SCENARIO LINK "rate_steps = 1M\n" FLOW, "f:6: rate_steps = '1M' is not understood; "},
	{SCENARIO LINK "rate_steps = 0 at 1s\n" FLOW,
		"f:6: rate_steps = '0 at 1s' has a value that no link may have"},
	{SCENARIO LINK "rate_steps = 1e16 at 1s\n" FLOW,
		"f:6: rate_steps = '1e16 at 1s' has a value that no link may have"},
	{SCENARIO LINK "rate_steps = 1M at 2s, 2M at 2s\n" FLOW,
		"f:6: rate_steps = '1M at 2s, 2M at 2s' is out of order: times ascend"},
	{SCENARIO LINK "rate_steps = 1ms at 2s\n" FLOW,
		"f:6: rate_steps = '1ms at 2s' is a time; a number is wanted"},
	{SCENARIO LINK "delay_steps = 1001s at 2s\n" FLOW,
		"f:6: delay_steps = '1001s at 2s' has a value that no link may have"},
	{SCENARIO LINK "delay_steps = 5 at 2s\n" FLOW,
		"f:6: delay_steps = '5 at 2s' is a number without a unit"},
	{SCENARIO LINK "reorder = 3%\n" FLOW, "f:3: [link A-B] lacks reorder_delay; "},
	{SCENARIO LINK "reorder = 101%\nreorder_delay = 1ms\n" FLOW, "f:6: reorder = '101%' is "},
	{SCENARIO LINK "police = 1M\n" FLOW, "f:3: [link A-B] lacks police_bucket; "},
	{SCENARIO LINK "police = 0\npolice_bucket = 1\n" FLOW, "f:6: police = '0' is 0; it must"},
	{SCENARIO LINK "police = 1M\npolice_bucket = 0\n" FLOW, "f:7: police_bucket = '0' is 0; "},
	{SCENARIO LINK "police_bucket = 1\n" FLOW, "f:6: [link A-B] has no key 'police_bucket'"},
	{SCENARIO LINK "outage = 1s\n" FLOW,
		"f:6: outage = '1s' is not understood; write LENGTH at TIME"},
	{SCENARIO LINK "hops = 0.5\n" FLOW, "f:6: hops = '0.5' is 0.5; it must be from 1 to"},
	{SCENARIO LINK "hops = 2\nhop_wait = 2s\n" FLOW, "f:6: hops = '2' takes more than 1s"},
	{SCENARIO LINK "hop_wait = 1ms\n" FLOW, "f:6: [link A-B] has no key 'hop_wait'"},
	{PXP "arrival = 80us\n", "f:6: [flow f] lacks process; "},
	{PXP "arrival = 2s\nprocess = 80us\n", "f:11: arrival = '2s' is not within 1ns and 1s"},
	{PXP "arrival = 1ms\nprocess = 0s\n", "f:12: process = '0s' is not within 0.1ns and 1s"},
	{PXP "arrival = 1ms\nprocess = 1ms\nwindow = 20000\n",
		"f:13: window = '20000' is more than 16384"},
	{PXP "arrival = 1ms\nprocess = 1ms, 1ms\n", "f:12: process = '1ms, 1ms' has neither one"},
	{PXP "arrival = 1ms\nprocess = 1ms\nreceiver_process = 1ms, 1ms, 1ms, 1ms, 1ms, 1ms\n",
		"f:13: receiver_process = '1ms, 1ms, 1ms, 1ms, 1ms, 1ms' is not of the same"},
	{PXP "arrival = 1ms\nprocess = 1ms\ncores = 17\n", "f:13: cores = '17' is 17; "},
	{PXP "cores = 1\n", "f:11: [flow f] has no key 'cores'"},
	{PXP "period = 0s\n", "f:11: period = '0s' is beyond the option's limits"},
	{PXP "timeout = 61s\n", "f:11: timeout = '61s' is beyond the option's limits"},
	{SCENARIO "[link A]\nrate = 1M\nqueue = 5\n" FLOW,
		"f:3: 'A' is no new link between two nodes"},
	{SCENARIO "[link A-A]\nrate = 1M\nqueue = 5\n" FLOW,
		"f:3: 'A-A' is no new link between two nodes"},
	{SCENARIO "[link A-B, B>A]\nrate = 1M\nqueue = 5\n" FLOW,
		"f:3: 'B>A' is no new link between two nodes"},
	{WHOLE "stop = 1s\nstart = 2s\n", "f:10: stop = '1s' is before the start"},
	{WHOLE "starts = 1s, 2s\ncount = 3\n",
		"f:10: starts = '1s, 2s' has not as many values as there are flows"},
	{WHOLE "starts = 1s, 2s\nsizes = 1M\n", "f:11: sizes = '1M' has not as many values as"},
	{WHOLE "starts = 2s, 1s\n", "f:10: starts = '2s, 1s' starts before the one before it"},
	{WHOLE "starts = 1s, 2s\nstops = 3s, 1s\n",
		"f:11: stops = '3s, 1s' stops before its start"},
	{WHOLE "starts = 1s, 2s\nstop = 1.5s\n", "f:10: starts = '1s, 2s' stops before its start"},
	{WHOLE "starts = 1, 2\n", "f:10: starts = '1, 2' is a number without a unit"},
	{WHOLE "starts = -1s\n", "f:10: starts = '-1s' has a value that no flow may have"},
	{WHOLE "sizes = 0\n", "f:10: sizes = '0' has a value that no flow may have"},
	{WHOLE "sizes = 1e30\n", "f:10: sizes = '1e30' has a value that no flow may have"},
	{WHOLE "trace = t\nstarts = 1s\n", "f:10: trace = 't' says all of starts, sizes, stops"},
	{WHOLE "trace = t\ncount = 1\n", "f:10: trace = 't' says all of starts, sizes, stops"},
	{FLEET LINK, "f:8: [link A-B] beside [fleet], which has a scenario of its own"},
	{"[scenario]\n[fleet]\nfiles = 5\n", "f: [fleet] lacks node_rate; "},
	{FLEET "nodes = 0\n", "f:8: nodes = '0' is 0; it must be from 0.5 to 1000"},
	{FLEET "receivers = 257\n", "f:8: receivers = '257' is 257; it must be from 0.5 to 256"},
	{FLEET "kill = 5\n", "f:8: kill = '5' is a number without a unit"},
	{FLEET "fails_a_day = 100%\n", "f:8: fails_a_day = '100%' is 1; it must be from 0 to 0.99"},
	{FLEET "duration = 5s\n", "f:8: [fleet] has no key 'duration'; "},
	{FLEET "[report]\nx = duration\n", "f:9: x = 'duration' has 'duration', which is no name"},
	{FLEET "nodes = 1e9\n", "f:8: nodes = '1e9' is 1e+09; it must be from 0.5 to 1000"},
	{FLEET "receiver_rate = -1G\n", "f:8: receiver_rate = '-1G' is -1e+09; it must be from 1"},
	{FLEET "lambda_rate = 0 / 0\n", "f:8: lambda_rate = '0 / 0' is -nan; it must be from 1"},
	{FLEET "start = -1s\n", "f:8: start = '-1s' is no time from 0s to 1000000s"},
	{"[scenario]\n[fleet]\nnode_rate = 8G\nfiles = 1G\nsize = 1\n",
		"f:4: files = '1G' is more than 100000 for each of the shards"},
	{"[scenario]\n[fleet]\nnode_rate = 8G\nfiles = 1M\nsize = 10T\n",
		"f:5: size = '10T' makes more than 1e+18 bytes of all files"},
	{FLEET "[sweep]\ntime = 1\n", "f: [sweep] has 'time', which a run of a fleet tells; "},
	{FLEET "[report]\nx = goodput(*)\n", "f:9: x = 'goodput(*)' has goodput('*'), which is no"},
	{FLEET "[report]\nx = goodput(f)\n", "f:9: x = 'goodput(f)' has goodput('f'), which is no"},
	{WHOLE "trace = nosuch\n", "f:10: trace = 'nosuch' is no file that can be read"},
	{WHOLE "trace = /\n", "f:10: trace = '/' is no file that can be read"},
	{WHOLE "trace = /dev/zero\n", "f:10: trace = '/dev/zero' is no file that can be read"},
	{SCENARIO LINK "[flow f]\nagent = cbr\nrate = 1M\nfrom = A\nto = B\nsizes = 1M\n",
		"f:11: [flow f] has no key 'sizes'; "},
	{SCENARIO LINK "[flow f]\nagent = cbr\nrate = 1M\nfrom = A\nto = B\n"
		       "starts = 1s, 5s\nsteps = 2M at 4s\n",
		"f:12: steps = '2M at 4s' is before one of the flows starts"},
	{WHOLE "count = 3\nstagger = 500000s\n",
		"f:11: stagger = '500000s' makes the last one start after 1000000s"},
	{WHOLE "start = 1000001s\n", "f:10: start = '1000001s' is no time from 0s to 1000000s"},
	{SCENARIO LINK "delay = 1001s\n" FLOW, "f:6: delay = '1001s' is more than 1000s"},
	{WHOLE "formula3 = maybe\n", "f:10: formula3 = 'maybe' is not one of off, on, no, yes"},
	{WHOLE "packet = 90\n", "f:10: packet = '90' leaves no room for payload"},
	{SCENARIO LINK "[flow f]\nagent = tcp\nfrom = A\nto = B\n",
		"f:7: agent = 'tcp' is not one of fixed, udt,"},
	{SCENARIO LINK "[flow f]\nagent = udt\nfrom = A\nto = A\n",
		"f:9: to = 'A' is where it comes from"},
	{SCENARIO LINK "[flow f]\nagent = fixed\nfrom = A\nto = B\n", "f:6: [flow f] lacks rate; "},
	{SCENARIO LINK "[flow f]\nagent = ttp\nfrom = A\nto = B\n",
		"f:6: [flow f] lacks bottleneck; "},
	{TTP "min_rate = 9M\nmax_rate = 8M\n", "f:12: max_rate = '8M' is below min_rate"},
	{TTP "q = 0\n", "f:11: q = '0' is 0; it must be from 0.5 to"},
	{TTP "n = 1025\n", "f:11: n = '1025' is 1025; it must be from 0.5 to 1024"},
	{TTP "fec = 5\n", "f:11: fec = '5' is neither off, auto nor K,R, as 100,5"},
	{TTP "fec = 100,156\n", "f:11: fec = '100,156' is neither off, auto"},
	{TTP "code = xor\n", "f:11: code = 'xor' is not one of rs, tornado"},
	{TTP "fec = off\ncode = rs\n", "f:12: [flow f] has no key 'code'; its keys are "},
	{TTP "chunk = 24M\n", "f:11: chunk = '24M' makes more than 65535 packets with its repair"},
	{WHOLE "chunk = 1M\n", "f:10: [flow f] has no key 'chunk'; its keys are "},
	{SCENARIO LINK "[flow f]\nagent = psock\nfrom = A\nto = B\n",
		"f:6: [flow f] lacks connections; "},
	{SCENARIO LINK "[flow f]\nagent = sack\nfrom = A\nto = B\npacket = 40\n",
		"f:10: packet = '40' leaves no room for payload beside its head"},
	{SCENARIO LINK "[flow f]\nagent = drs\nfrom = A\nto = B\n", "f:6: [flow f] lacks window; "},
	{SCENARIO LINK "[flow f]\nagent = cbr\nrate = 1M\nfrom = A\nto = B\n"
		       "steps = 2M at 5s, 3M at 4s\n",
		"f:11: steps = '2M at 5s, 3M at 4s' is out of order"},
	{SCENARIO LINK "[flow f]\nagent = cbr\nrate = 1M\nfrom = A\nto = B\n"
		       "start = 6s\nsteps = 2M at 5s\n",
		"f:12: steps = '2M at 5s' is out of order"},
	{SCENARIO LINK "[flow f 1]\nagent = udt\nfrom = A\nto = B\n",
		"f:6: 'f 1' is no new name of a flow"},
	{SCENARIO "[link A>B]\nrate = 1M\nqueue = 5\n" FLOW,
		"f: [flow f] has no route from A to B and back"},

	/* Sweeps. */
	{WHOLE "[sweep]\nx = 1, , 2\n", "f:11: '' is not one value; "},
	{WHOLE "[sweep]\nx : y = 1 : 2, 3\n", "f:11: '3' is not one value for each name"},
	{WHOLE "[sweep]\nx = 1\nx : y = 1 : 2\n", "f:12: 'x' means something already"},
	{WHOLE "[sweep]\nmax = 1\n", "f:11: 'max' means something already"},
	{WHOLE "[sweep]\n1x = 1\n", "f:11: '1x' is no name; "},
	{WHOLE "[sweep]\nx = y + 1\n", "f:11: x = 'y + 1' has 'y', which is no name here"},
	{SCENARIO "[sweep]\nagent = udt, tcp\n" LINK "[flow f]\nagent = agent\nfrom = A\nto = B\n",
		"f:9: agent = 'agent' is not one of fixed"},

	/* Questions. */
	{WHOLE "[report]\nx = goodput(g)\n", "f:11: x = 'goodput(g)' has goodput('g'), which is "
					     "no flow of this scenario"},
	{WHOLE "[report]\nx = goodput(f.2)\n", "f:11: x = 'goodput(f.2)' has goodput('f.2')"},
	{WHOLE "[report]\nx = goodput(f, 5s)\n", "f:11: x = 'goodput(f, 5s)' has '5s', which"},
	{WHOLE "[report]\nx = goodput(f, 5s, 5s)\n",
		"f:11: x = 'goodput(f, 5s, 5s)' asks from 5s to 5s, which is no span"},
	{WHOLE "[report]\nx = goodput(f, 5s, 11s)\n",
		"f:11: x = 'goodput(f, 5s, 11s)' asks about '11s', which is no time "
		"within"},
	{WHOLE "[report]\nx = finish(f, 1s, 2s)\n",
		"f:11: x = 'finish(f, 1s, 2s)' has '1s', which is no flow of this "
		"scenario, "
		"and takes no times"},
	{WHOLE "[report]\nx = goodput(f, finish(f), 9s)\n",
		"f:11: x = 'goodput(f, finish(f), 9s)' has 'finish', which is no function here; "},
	{WHOLE "[report]\nx = utilisation(A-C)\n",
		"f:11: x = 'utilisation(A-C)' has utilisation('A-C'), which is no link, as "
		"A-B, of"},
	{WHOLE "[report]\nx = goodputs(f)\n",
		"f:11: x = 'goodputs(f)' has 'goodputs', which is no function; functions "
		"are goodput throughput"},
	{WHOLE "[report]\nx = queue_delay(A-B)\n",
		"f:11: x = 'queue_delay(A-B)' has a queue_delay( ) that lacks a number"},
	{WHOLE "[report]\nx = queue_delay(A-B, 99)\n",
		"f:11: x = 'queue_delay(A-B, 99)' asks for a share that is not from 0 to 1"},
	{WHOLE "[report]\nx = queue_delay(A-B, 5s, 6s)\n",
		"f:11: x = 'queue_delay(A-B, 5s, 6s)' has '5s' where a number is wanted"},
	{WHOLE "[report]\nx = holds(f, 5M)\n",
		"f:11: x = 'holds(f, 5M)' has a holds( ) that lacks a"},
	{WHOLE "[report]\nx = holds(f, 5M, 2)\n",
		"f:11: x = 'holds(f, 5M, 2)' has '2' where a time is wanted"},
	{WHOLE "[report]\nx = holds(f, 5M, 0s)\n",
		"f:11: x = 'holds(f, 5M, 0s)' has a window that is too short"},
	{WHOLE "[report]\nx = holds(f, 5M, 1us)\n",
		"f:11: x = 'holds(f, 5M, 1us)' has a window that is too short"},
	{WHOLE "[report]\nx = holds(f, 5M, -1s)\n",
		"f:11: x = 'holds(f, 5M, -1s)' has a window that is too short"},
	{WHOLE "[report]\nx = took(f, 99%, 5s, 6s)\n",
		"f:11: x = 'took(f, 99%, 5s, 6s)' has '5s', which is no flow of this scenario"},
	{WHOLE "[report]\nx = took(f, 101%)\n",
		"f:11: x = 'took(f, 101%)' asks for a share that is not from 0 to 1"},
	{WHOLE "[expect]\nx = finish(f) < 5\n",
		"f:11: x = 'finish(f) < 5' holds a time against a number"},
};

static void test_refused(void)
{
	for (size_t i = 0; i < LENGTH(refusals); i++)
		expect_said(refusals[i].text, NULL, refusals[i].said);
}

/* The last list changes quickest, lists in step count once. */
static void test_sweep(void)
{
	static const char text[] =
		"[scenario]\nduration = 10s\nseed = n\n"
		"[sweep]\nrtt = 1ms, 10ms\nrate : n = 1M : max(2, 3), 2M : 4, rate : 5\n"
		"agent = udt, sack\n"
		"[link A-B]\nrate = rate\ndelay = rtt / 2\nqueue = 50\n" FLOW;
	static const char fine[] =
		"[scenario]\nduration = 10s\nseed = n\n"
		"[sweep]\nrtt = 1ms, 10ms\nrate : n = 1M : max(2, 3), 2M : 4, 3M : 5\n"
		"agent = udt, sack\n"
		"[link A-B]\nrate = rate\ndelay = rtt / 2\nqueue = 50\n"
		"[flow f]\nagent = agent\nfrom = A\nto = B\n";
	static const uint64_t rates_bps[] = {1000000, 2000000, 3000000};
	char name[WH_POINT_NAME_BYTES];

	expect_said(
		text, NULL, "f:9: rate = 'rate' counts with 'rate', whose value is the word rate");
	CU_ASSERT_EQUAL(open_text(fine, NULL), -1);
	CU_ASSERT_EQUAL(sweep.n_points, 12);
	for (uint32_t i = 0; i < 12; i++) {
		struct wh_point *point = build(i);

		CU_ASSERT_EQUAL(point->links[0].delay_ps, (i < 6 ? MS : 10 * MS) / 2);
		CU_ASSERT_EQUAL(point->links[1].rate_bps, rates_bps[i / 2 % 3]);
		CU_ASSERT_EQUAL(point->seed, 3 + i / 2 % 3);
		CU_ASSERT_STRING_EQUAL(point->agents[0], i % 2 == 0 ? "udt" : "sack");
		CU_ASSERT_EQUAL(
			point->groups[0].agent, i % 2 == 0 ? WH_SCENARIO_ENGINE : WH_SCENARIO_TCP);
		CU_ASSERT_STRING_EQUAL(wh_point_link_name(point, 1, name), "B-A");
		CU_ASSERT_STRING_EQUAL(wh_point_flow_name(point, 0, name), "f");
		wh_point_free(point);
	}
	close_file();
}

static const char network[] =
	"[scenario]\nduration = 10s\nwarmup = 2s\nrepeat = 3\n"
	"[link S1-A, S2-A]\nrate = 1G\nqueue = none\n"
	"[link A>B] # one way\nrate = 10M\ndelay = 1.5ms\nqueue = bdp(10M, 10ms)\n"
	"queue_bytes = 64KiB\nloss = 1%\noutage = 10ms at 1s, 1s at 2s\npause = 5ms at 3s\n"
	"away = 1ms\nhere = 3ms\n"
	"[link B>A]\nrate = 10M\nqueue = 0.6\ngilbert_elliott = 0.1, 0.2, 0.3, 0.9\n"
	"discipline = red\n"
	"[flow a]\nagent = sack\nfrom = S1\nto = B\ncount = 3\nstagger = 5s\n"
	"size = 1MiB\npacket = 1000\nhead = 50\nwindow = 2.5\nssthresh = none\n"
	"device_queue = 100\n"
	"[flow none]\nagent = reno\nfrom = S2\nto = B\ncount = 0\n"
	"[flow b]\nagent = fixed\nrate = 5M\nfrom = S2\nto = B\nwindow = 100\nburst = 4\n"
	"known_rate = 2 * 5M\nknown_rtt = 3ms\nknown_burst = 7\nknown_age = 60s\n"
	"[report]\nx = goodput(a.2, *, 1s, 3s)\nagain = lost(B-A, 1s, 2s)\n"
	"[expect]\ny = finish(a) < 5s and queue_max(A-B) < 100\n";

static void expect_links(const struct wh_point *point)
{
	const struct wh_sim_link_config *there = &point->links[4];
	const struct wh_sim_link_config *back = &point->links[5];

	CU_ASSERT_EQUAL(point->links[0].queue.limit_pkts, 0);
	CU_ASSERT_EQUAL(there->delay_ps, 1500 * MS / 1000);
	CU_ASSERT_EQUAL(there->queue.limit_pkts, 8); /* 8.33 */
	CU_ASSERT_EQUAL(there->queue.limit_bytes, 65536);
	CU_ASSERT_EQUAL(there->loss.loss, 0.01);
	CU_ASSERT_EQUAL(there->loss.n_outages, 2);
	CU_ASSERT_EQUAL(there->loss.outage[0].start_ns, 1000000000);
	CU_ASSERT_EQUAL(there->loss.outage[0].length_ns, 10000000);
	CU_ASSERT_EQUAL(there->absence.mean.away_ps, MS);
	CU_ASSERT_EQUAL(there->absence.mean.here_ps, 3 * MS);
	CU_ASSERT_EQUAL(back->absence.mean.away_ps, 0);
	CU_ASSERT_EQUAL(there->n_pauses, 1);
	CU_ASSERT_EQUAL(there->pause[0].start_ns, UINT64_C(3000000000));
	CU_ASSERT_EQUAL(there->pause[0].length_ns, 5000000);
	CU_ASSERT_EQUAL(back->queue.limit_pkts, 1);
	CU_ASSERT_EQUAL(back->queue.discipline, WH_SIM_RED);
	CU_ASSERT_EQUAL(back->loss.loss_model, WH_LOSS_GILBERT_ELLIOTT);
	CU_ASSERT_EQUAL(back->loss.gilbert_elliott.loss_bad, 0.7);
	WH_ASSERT_NEAR(back->loss.gilbert_elliott.loss_good, 0.1, 1e-12);
}

static void expect_flows(const struct wh_point *point)
{
	const struct wh_scenario_group *a = &point->groups[0];
	const struct wh_scenario_group *b = &point->groups[2];
	char name[WH_POINT_NAME_BYTES];

	CU_ASSERT_EQUAL(a->count, 3);
	CU_ASSERT_EQUAL(a->stagger_ps, 5 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(a->stop_ps, WH_SIM_NEVER_PS);
	CU_ASSERT_EQUAL(a->size_bytes, 1048576);
	CU_ASSERT_EQUAL(a->payload_bytes, 950);
	CU_ASSERT_EQUAL(a->tcp.segment_bytes, 950);
	CU_ASSERT_EQUAL(a->tcp.head_bytes, 50);
	CU_ASSERT_EQUAL(a->tcp.window_pkts, 3);
	CU_ASSERT_EQUAL(a->tcp.device_queue_pkts, 100);
	CU_ASSERT_EQUAL(a->tcp.initial_ssthresh_pkts, 0.0);
	CU_ASSERT_EQUAL(b->size_bytes, WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_EQUAL(b->engine.rate_bps, 5000000);
	CU_ASSERT_EQUAL(b->engine.window_pkts, 128);
	CU_ASSERT_EQUAL(b->engine.burst_pkts, 4);
	CU_ASSERT_EQUAL(b->engine.known.capacity_bps, 10000000);
	CU_ASSERT_EQUAL(b->engine.known.rtt_ns, 3000000);
	CU_ASSERT_EQUAL(b->engine.known.burst_pkts, 7);
	CU_ASSERT_EQUAL(b->engine.known.age_s, 60);
	CU_ASSERT_EQUAL(b->payload_bytes, 1408);
	CU_ASSERT_STRING_EQUAL(wh_point_flow_name(point, 2, name), "a.3");
	CU_ASSERT_STRING_EQUAL(wh_point_flow_name(point, 3, name), "b");
}

static void test_network(void)
{
	/* 0, warmup, duration, and what is asked about. */
	static const uint64_t marks_s[] = {0, 1, 2, 3, 10};
	struct wh_point *point;

	CU_ASSERT_EQUAL(open_text(network, NULL), -1);
	point = build(0);
	CU_ASSERT_EQUAL(point->scenario.n_nodes, 4);
	CU_ASSERT_EQUAL(point->scenario.n_links, 6);
	CU_ASSERT_EQUAL(point->repeat, 3);
	CU_ASSERT_EQUAL(point->warmup_ps, 2 * WH_PS_PER_S);
	expect_links(point);
	expect_flows(point);
	CU_ASSERT_EQUAL(point->scenario.n_marks, 5);
	for (uint32_t i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(point->marks_ps[i], marks_s[i] * WH_PS_PER_S);
	wh_point_free(point);
	close_file();
}

static double option(const struct wh_sim_engine_config *engine, const char *name)
{
	return wh_profile_options_get(&engine->options, engine->profile, name);
}

static void test_udt(void)
{
	static const char text[] =
		WHOLE "formula3 = off\nspare_single_loss = yes\ndelay_warning = no\none_way = on\n"
		      "bandwidth_in_bytes = on\nbeta = 2e-6\nloss_threshold = 5%\nrate = 8M\n";

	CU_ASSERT_EQUAL(open_text(text, NULL), -1);

	struct wh_point *point = build(0);
	const struct wh_sim_engine_config *engine = &point->groups[0].engine;

	CU_ASSERT_STRING_EQUAL(engine->profile->name, "udt");
	CU_ASSERT_FALSE(option(engine, "formula3"));
	CU_ASSERT_TRUE(option(engine, "spare_single_loss"));
	CU_ASSERT_FALSE(option(engine, "delay_warning"));
	CU_ASSERT_TRUE(option(engine, "one_way"));
	CU_ASSERT_TRUE(option(engine, "bandwidth_in_bytes"));
	CU_ASSERT_EQUAL(option(engine, "beta"), 2e-6);
	CU_ASSERT_EQUAL(option(engine, "loss_threshold"), 0.05);
	CU_ASSERT_EQUAL(engine->rate_bps, 8000000);
	/* No delay, a queue of 50, and 8.3 in 10 ms: twice that, as a power of two. */
	CU_ASSERT_EQUAL(engine->window_pkts, 128);
	wh_point_free(point);
	close_file();
}

/* Hops of 2 and 3 ms, processes of 60 and 240 us, one processor; 100 packets in tables of 128. */
static void test_exchange(void)
{
	static const char text[] =
		SCENARIO LINK "hops = 1.5\nhop_service = 2ms\nhop_wait = 3ms\n"
			      "[flow f]\nagent = pxp\nfrom = A\nto = B\nrate = 10M\n"
			      "timeout = 30ms\nload = 0.5\nwindow = 100\narrival = 80us\n"
			      "process = 60us\nreceiver_process = 240us\ncores = 1\n";

	CU_ASSERT_EQUAL(open_text(text, NULL), -1);

	struct wh_point *point = build(0);
	const struct wh_sim_engine_config *engine = &point->groups[0].engine;
	const struct wh_sim_hops *hops = &point->links[1].hops;

	CU_ASSERT_EQUAL(hops->mean, 1.5);
	CU_ASSERT_EQUAL(hops->service_ps, 2 * MS);
	CU_ASSERT_EQUAL(hops->wait_ps, 3 * MS);
	CU_ASSERT_EQUAL(engine->window_pkts, 128);
	CU_ASSERT_EQUAL(option(engine, "window"), 100);
	CU_ASSERT_EQUAL(option(engine, "timeout"), 30e6);
	CU_ASSERT_EQUAL(option(engine, "load"), 0.5);
	CU_ASSERT_EQUAL(engine->tasks.arrival_ps, 80 * MS / 1000);
	CU_ASSERT_EQUAL(engine->tasks.task_ps[WH_TASK_HOST], 60 * MS / 1000);
	CU_ASSERT_EQUAL(engine->tasks.receiver_task_ps[WH_TASK_HOST], 240 * MS / 1000);
	CU_ASSERT_EQUAL(engine->tasks.task_ps[WH_TASK_SEAL], 0);
	CU_ASSERT_EQUAL(engine->tasks.cores, 1);
	CU_ASSERT_FALSE(engine->tasks.real);
	wh_point_free(point);
	close_file();
}

/* 622 Mb/s by 100 ms are 62.2 Mb: 5183.3 packets of 1500 bytes, of which 40 are heads. */
static void test_drs(void)
{
	static const char text[] = SCENARIO LINK
		"[flow f]\nagent = drs\nwindow = bdp(622M, 100ms)\nfrom = A\nto = B\n";

	CU_ASSERT_EQUAL(open_text(text, NULL), -1);

	struct wh_point *point = build(0);
	const struct wh_sim_tcp_config *tcp = &point->groups[0].tcp;

	CU_ASSERT_EQUAL(point->groups[0].agent, WH_SCENARIO_TCP);
	CU_ASSERT_EQUAL(tcp->variety, WH_SIM_TCP_SACK);
	CU_ASSERT_EQUAL(tcp->window_pkts, 5183);
	CU_ASSERT_EQUAL(tcp->segment_bytes + tcp->head_bytes, 1500);
	wh_point_free(point);
	close_file();
}

static void test_ttp(void)
{
	static const char text[] =
		TTP "rate = 9M\ninitial_rate = 5M\nmin_rate = 2M\nmax_rate = 7M\nincrease = 3M\n"
		    "decrease = 1.5\nq = 4\nn = 100\nstretch = 3\nstretch_max = 9\n"
		    "initial_loss = 20%\nencode_delay = 50ms\ncode = rs\nstrict_paper = on\n"
		    "fec_target = 1e-3\nfec_ceiling = 50%\n";

	CU_ASSERT_EQUAL(open_text(text, NULL), -1);

	struct wh_point *point = build(0);
	const struct wh_sim_engine_config *engine = &point->groups[0].engine;

	CU_ASSERT_STRING_EQUAL(engine->profile->name, "ttp");
	CU_ASSERT_EQUAL(engine->rate_bps, 9000000);
	CU_ASSERT_EQUAL(option(engine, "bottleneck"), 10000000);
	CU_ASSERT_EQUAL(option(engine, "initial_rate"), 5000000);
	CU_ASSERT_EQUAL(option(engine, "min_rate"), 2000000);
	CU_ASSERT_EQUAL(option(engine, "max_rate"), 7000000);
	CU_ASSERT_EQUAL(option(engine, "increase"), 3000000);
	CU_ASSERT_EQUAL(option(engine, "decrease"), 1.5);
	CU_ASSERT_EQUAL(option(engine, "q"), 4);
	CU_ASSERT_EQUAL(option(engine, "n"), 100);
	CU_ASSERT_EQUAL(option(engine, "stretch"), 3);
	CU_ASSERT_EQUAL(option(engine, "stretch_max"), 9);
	CU_ASSERT_EQUAL(option(engine, "initial_loss"), 0.2);
	CU_ASSERT_EQUAL(engine->encode_ps, 50 * MS);
	CU_ASSERT_EQUAL(engine->repair.recovery, WH_RECOVERY_FEC);
	CU_ASSERT_EQUAL(engine->repair.code, WH_FEC_RS);
	CU_ASSERT_EQUAL(engine->repair.planner.code, WH_FEC_RS);
	CU_ASSERT_EQUAL(engine->repair.planner.target, 1e-3);
	/* 1 MB is 710 packets of 1408 bytes; whole multiples of 4096 bytes are 32 packets each. */
	CU_ASSERT_EQUAL(wh_sim_engine_chunk_pkts(engine), 704);
	/* Half of what is sent may be repair. */
	CU_ASSERT_EQUAL(engine->repair.repair_pkts, 704);
	CU_ASSERT_EQUAL(engine->repair.planner.r_max, 704);
	/* 128 without repair (test_udt), and two chunks with theirs: 2944, as a power of two. */
	CU_ASSERT_EQUAL(engine->window_pkts, 4096);
	wh_point_free(point);
	close_file();
}

/* What each profile has without a word, and with: recovery, repair packets, blocks. */
static void test_repair(void)
{
	static const struct {
		const char *text;
		enum wh_recovery recovery;
		enum wh_fec_code code;
		uint32_t repair_pkts;
		uint32_t fixed_k;
		uint32_t fixed_r;
		double initial_loss; /* the planner's */
	} cases[] = {
		{WHOLE, WH_RECOVERY_NAK, WH_FEC_RS, 0, 0, 0, 0.001},
		/* A quarter of 704 + 235. */
		{WHOLE "fec = auto\n", WH_RECOVERY_HYBRID, WH_FEC_RS, 235, 0, 0, 0.001},
		/* 8 blocks, the last one not whole. */
		{WHOLE "fec = 100,5\n", WH_RECOVERY_HYBRID, WH_FEC_RS, 40, 100, 5, 0.001},
		{WHOLE "fec = 100,5\nchunk = 140800\n", WH_RECOVERY_HYBRID, WH_FEC_RS, 5, 100, 5,
			0.001},
		{WHOLE "fec = auto\ncode = tornado\ninitial_loss = 1%\n", WH_RECOVERY_HYBRID,
			WH_FEC_TORNADO, 235, 0, 0, 0.01},
		/* Three quarters are repair. */
		{TTP, WH_RECOVERY_HYBRID, WH_FEC_TORNADO, 2112, 0, 0, 0.5},
		{TTP "fec = off\n", WH_RECOVERY_NAK, WH_FEC_TORNADO, 0, 0, 0, 0.001},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		CU_ASSERT_EQUAL_FATAL(open_text(cases[i].text, NULL), -1);

		struct wh_point *point = build(0);
		const struct wh_repair_config *repair = &point->groups[0].engine.repair;

		CU_ASSERT_EQUAL(repair->recovery, cases[i].recovery);
		CU_ASSERT_EQUAL(repair->code, cases[i].code);
		CU_ASSERT_EQUAL(repair->repair_pkts, cases[i].repair_pkts);
		CU_ASSERT_EQUAL(repair->fixed_k, cases[i].fixed_k);
		CU_ASSERT_EQUAL(repair->fixed_r, cases[i].fixed_r);
		CU_ASSERT_EQUAL(repair->planner.initial_loss, cases[i].initial_loss);
		wh_point_free(point);
		close_file();
	}
}

static void test_set(void)
{
	struct wh_point *point;

	expect_said(WHOLE, "duration=5s", "--set duration=5s: write SECTION.KEY=VALUE, ");
	expect_said(WHOLE, "scenario.duration", "--set scenario.duration: write SECTION.KEY=");
	expect_said(WHOLE, "scenario.=5s", "--set scenario.=5s: write SECTION.KEY=VALUE, ");
	expect_said(
		WHOLE, "link A-C.rate=5M", "--set link A-C.rate=5M: f has no section [link A-C]");
	expect_said(WHOLE, "scenario.duration=5",
		"--set scenario.duration=5: duration = '5' is a "
		"number without a unit");
	expect_said(WHOLE, "udt.bta=5",
		"--set udt.bta=5: udt has no option 'bta', see `wavehaul profiles udt`; did you "
		"mean 'beta'?");
	expect_said(
		WHOLE, "udt.beta=5", "--set udt.beta=5: beta = '5' is 5; it must be from 1e-12");
	expect_said(WHOLE, "udt.beta", "--set udt.beta: write PROFILE.OPTION=VALUE, ");
	expect_said(WHOLE, "ttp.q=5", "--set ttp.q=5: f has no flow of ttp");
	expect_said(WHOLE, "flow f.x=5", "--set flow f.x=5: [flow f] has no key 'x'");

	CU_ASSERT_EQUAL(open_text(WHOLE, "link A-B.rate = 5M"), -1);
	point = build(0);
	CU_ASSERT_EQUAL(point->links[0].rate_bps, 5000000);
	CU_ASSERT_EQUAL(point->links[0].queue.limit_pkts, 50);
	wh_point_free(point);
	close_file();

	/* An option of a profile is of all its flows, and of those that a sweep makes its flows. */
	CU_ASSERT_EQUAL(open_text(WHOLE, "udt.beta=1e-6"), -1);
	CU_ASSERT_STRING_EQUAL(
		wh_ini_find(&ini.sections[ini.n_sections - 1], "beta")->value, "1e-6");
	close_file();
	CU_ASSERT_EQUAL(open_text(SCENARIO LINK "[sweep]\nwho = udt, sack\n[flow f]\nagent = who\n"
						"from = A\nto = B\n",
				"udt.beta=1e-6"),
		-1);
	close_file();
	CU_ASSERT_EQUAL(open_text(SCENARIO LINK "[sweep]\nqueue : who = 1 : udt, 2 : sack\n"
						"[flow f]\nagent = who\nfrom = A\nto = B\n",
				"udt.beta=1e-6"),
		-1);
	close_file();
	CU_ASSERT_EQUAL(open_text(WHOLE, "sweep.x=1,2,3"), -1);
	CU_ASSERT_EQUAL(sweep.n_points, 3);
	close_file();

	/* A question about what is not swept any more has no answer, and is no mistake. */
	CU_ASSERT_EQUAL(open_text(WHOLE "[sweep]\nw = a, b\n[expect]\nx = 1 > 2 when w == b\n",
				"sweep.w=a"),
		-1);
	close_file();

	CU_ASSERT_EQUAL(open_text(WHOLE, "expect.new one=goodput(f.1) >= 1M"), -1);
	CU_ASSERT_STRING_EQUAL(ini.sections[WH_INI_EXPECT].entries[0].key, "new one");
	CU_ASSERT_STRING_EQUAL(ini.sections[WH_INI_EXPECT].entries[0].value, "goodput(f.1) >= 1M");
	close_file();
}

/* A key that only some of a sweep's agents have is no mistake; one that none has is. */
static void test_keys_of_some(void)
{
#define SWEPT                                                                                      \
	SCENARIO "[sweep]\nagent = udt, sack\n" LINK "[flow f]\nagent = agent\nfrom = A\nto = B\n"

	CU_ASSERT_EQUAL(open_text(SWEPT "ssthresh = 5\nformula3 = off\n", NULL), -1);
	close_file();
	expect_said(SWEPT "shape = 2\n", NULL, "f:12: [flow f] has no key 'shape'; ");
}

CU_TestInfo wh_tests[] = {
	{"what is refused, and where", test_refused},
	{"the product of a sweep", test_sweep},
	{"links, flows and marks", test_network},
	{"options of the udt profile", test_udt},
	{"the periodic exchange's model", test_exchange},
	{"drs", test_drs},
	{"ttp", test_ttp},
	{"repair", test_repair},
	{"--set", test_set},
	{"keys of some agents", test_keys_of_some},
	CU_TEST_INFO_NULL,
};
