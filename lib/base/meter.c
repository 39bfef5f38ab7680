/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/meter.h"

#include "base/assert.h"

const char *wh_meter_task_name(enum wh_meter_task task)
{
	static const char *const names[WH_METER_TASKS] = {
		[WH_METER_LOOP] = "loop",
		[WH_METER_PORT_RECEIVE] = "port_receive",
		[WH_METER_DECODE] = "decode",
		[WH_METER_RCV] = "rcv",
		[WH_METER_HOST_RCV] = "host_rcv",
		[WH_METER_SEND_RCV_STAT] = "send_rcv_stat",
		[WH_METER_GET_TRANS_STAT] = "get_trans_stat",
		[WH_METER_HOST_TRANS] = "host_trans",
		[WH_METER_TRANS] = "trans",
		[WH_METER_GET_RCV_STAT] = "get_rcv_stat",
		[WH_METER_SEND_TRANS_STAT] = "send_trans_stat",
		[WH_METER_OPENING] = "opening",
		[WH_METER_FRAME] = "frame",
		[WH_METER_PORT_SEND] = "port_send",
		[WH_METER_READER] = "reader",
		[WH_METER_WRITER] = "writer",
		[WH_METER_JOB] = "job",
		[WH_METER_CODER] = "coder",
	};

	WH_ASSERT((unsigned int)task < WH_METER_TASKS);
	return names[task];
}

void wh_meter_begin(struct wh_meter *meter, uint64_t now)
{
	WH_ASSERT(!meter->on && meter->read != NULL);
	meter->on = true;
	meter->turns++;
	meter->current = WH_METER_LOOP;
	meter->since = now;
}

void wh_meter_end(struct wh_meter *meter, bool worked)
{
	WH_ASSERT(meter->on);
	wh_meter_enter(meter, WH_METER_LOOP);
	meter->on = false;
	for (uint32_t i = 0; i < WH_METER_TASKS; i++) {
		meter->cycles[worked ? i : WH_METER_LOOP] += meter->turn_cycles[i];
		meter->turn_cycles[i] = 0;
	}
}

static uint64_t sum_from(const uint64_t cycles[WH_METER_TASKS], enum wh_meter_task first)
{
	uint64_t sum = 0;

	for (uint32_t i = first; i < WH_METER_TASKS; i++)
		sum += cycles[i];
	return sum;
}

uint64_t wh_meter_sum(const uint64_t cycles[WH_METER_TASKS])
{
	return sum_from(cycles, WH_METER_LOOP + 1);
}

uint64_t wh_meter_workers(const uint64_t cycles[WH_METER_TASKS])
{
	return sum_from(cycles, WH_METER_READER);
}
