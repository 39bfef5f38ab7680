-- SPDX-License-Identifier: BSD-3-Clause

-- What Wireshark and tshark need to read wavehaul's packets:
--
--     tshark -X lua_script:tools/wavehaul.lua -r capture.pcap
--     wireshark -X lua_script:tools/wavehaul.lua capture.pcap
--
-- The formats are those of lib/wire/packet.h, their places those of its structs; a filter is
-- named after the member, as in wavehaul.data.chunk. Where another UDP port was chosen:
-- tshark -d udp.port==PORT,wavehaul, or "Decode As". Sealed packets are opened by what a
-- wavehaul wrote with --keylog (-o wavehaul.keylog:FILE); data and trains, which take a while each,
-- if wavehaul.open_data:TRUE says so. test/e2e/dissector.py holds this file against what the encoder
-- writes.

local UDP_PORTS = "5760-5775"
local VERSION = 7
local HEAD_BYTES = 64
local FIELDS_AT = 16
local TAG_AT = 48
local PARAMS_BYTES = 68 -- of OPEN and CONFIRM, without options and name
local TAG_BYTES = 16
local RANGE_BYTES = 8
local OPTION_BYTES = 9
local WORD_BYTES = 8
local UNKNOWN = UInt64(0xffffffff, 0xffffffff) -- WH_OBJECT_BYTES_UNKNOWN

local TYPE_NAMES = {
	[1] = "data", [2] = "repair", [3] = "rcv-report", [4] = "trans-report", [5] = "ack2",
	[6] = "nak", [7] = "delay-warning", [8] = "bitmap", [9] = "open", [10] = "accept",
	[11] = "confirm", [12] = "release", [13] = "probe", [14] = "probe-answer",
	[15] = "ask", [16] = "cookie", [17] = "crypto", [18] = "path",
}
local KEY_NAMES = {
	[0] = "the tag is a checksum and the token", [1] = "sealed, epochs 0, 4 ..",
	[2] = "sealed, epochs 1, 5 ..", [3] = "sealed, epochs 2, 6 ..",
	[4] = "sealed, epochs 3, 7 ..",
}
local STAGE_NAMES = {[1] = "request", [2] = "reply", [3] = "done", [4] = "abort"}
local STATUS_NAMES = {
	[0] = "pending", [1] = "verified", [2] = "mismatch", [3] = "no-space", [4] = "io-error",
	[5] = "refused", [6] = "busy", [7] = "interrupted", [8] = "stalled", [9] = "peer-gone",
	[10] = "unrepaired", [11] = "unsealed", [12] = "unbound", [13] = "revoked",
	[14] = "replaced", [15] = "unheard",
}
local CODE_NAMES = {[0] = "none", [1] = "rs", [2] = "tornado"}
local RECOVERY_NAMES = {[0] = "nak", [1] = "hybrid", [2] = "fec"}
local REFUSED_NAMES = {[0] = "welcome"}

for number = 1, #STATUS_NAMES do
	REFUSED_NAMES[number] = STATUS_NAMES[number]
end

local keys = dofile((debug.getinfo(1, "S").source:match("^@(.*)[/\\]") or ".") ..
	"/wavehaul_keys.lua")
local wavehaul = Proto("wavehaul", "wavehaul")
local fields = {}

local function define(make, filter, label, ...)
	local field = make("wavehaul." .. filter, label, ...)

	fields[#fields + 1] = field
	return field
end

-- Kinds of members: how a field is made, and its size where the kind says it.
local U8 = {make = ProtoField.uint8, bytes = 1, base = base.DEC}
local U16 = {make = ProtoField.uint16, bytes = 2, base = base.DEC}
local U32 = {make = ProtoField.uint32, bytes = 4, base = base.DEC}
local U64 = {make = ProtoField.uint64, bytes = 8, base = base.DEC}
local TOKEN = {make = ProtoField.uint64, bytes = 8, base = base.HEX}
local CID = {make = ProtoField.uint32, bytes = 4, base = base.HEX}
local RAW32 = {make = ProtoField.bytes, bytes = 32, base = base.NONE}
local RAW16 = {make = ProtoField.bytes, bytes = 16, base = base.NONE}

local reserved = define(ProtoField.bytes, "reserved", "Reserved", base.NONE)

-- Members {offset, kind, name, label, names of values} and reserved bytes {offset, bytes}.
local function group(prefix, members)
	for _, member in ipairs(members) do
		local kind = member[2]

		if type(kind) == "table" then
			member.bytes = kind.bytes
			member.field = define(kind.make, prefix .. member[3], member[4], kind.base,
				member[5])
		else
			member.bytes = kind
		end
	end
	return members
end

local head_group = group("", {
	{0, U8, "version", "Version"},
	{1, U8, "type", "Type", TYPE_NAMES},
	{3, U8, "key", "Key", KEY_NAMES},
	{4, CID, "cid", "Connection ID"},
	{8, U64, "pn", "Pn"},
	{56, TOKEN, "token", "Token"},
})
local data_group = group("data.", {
	{0, U64, "transmission", "Transmission"},
	{8, U32, "chunk", "Chunk"},
	{12, U32, "stamp", "Transmitter's clock (16 ns)"},
	{16, U16, "blocks", "Blocks of the chunk"},
	{18, U16, "index", "Index in the chunk"},
	{20, U16, "k", "Data packets of the chunk"},
	{22, U16, "r", "Repair packets of the chunk"},
	{24, U16, "payload_bytes", "Bytes of payload"},
	{26, U16, "last_bytes", "Bytes of payload of the chunk's last data packet"},
	{28, U16, "order", "Place of the chunk among those of several streams"},
	{30, U8, "code", "Erasure code", CODE_NAMES},
	{31, 1},
})
local rcv_report_group = group("rcv_report.", {
	{0, U64, "lower", "First packet number missing"},
	{8, U64, "upper", "First packet number without room"},
	{16, U64, "highest_end", "One past the highest packet number seen"},
	{24, U64, "cover_first", "Cover: first packet number"},
})
local rcv_report_body = group("rcv_report.", {
	{0, U64, "cover_end", "Cover: one past the last packet number"},
	{8, U64, "received_pkts", "Packets received"},
	{16, U64, "duplicate_pkts", "Duplicates"},
	{24, U64, "bad_pkts", "Bad packets"},
	{32, U32, "chunk_upper", "First chunk without a buffer"},
	{36, U32, "queued_chunks", "Chunks waiting for the writer"},
	{40, U32, "buffer_chunks", "Buffers"},
	{44, U32, "arrival_pps", "Arrival speed (packets/s)"},
	{48, U32, "capacity_pps", "Capacity (packets/s)"},
	{52, U32, "rtt_us", "Round-trip time (us)"},
	{56, U32, "rtt_var_us", "Variance of the round-trip time (us)"},
	{60, U32, "n_holes", "Number of holes"},
})
local losses_body = group("rcv_report.", {
	{0, U64, "lost_pkts", "Packets found missing"},
	{8, U64, "loss_events", "Runs of them"},
	{16, U64, "repaired_pkts", "Packets repaired"},
	{24, U64, "undecodable_blocks", "Blocks that could not be"},
})
local delivery_body = group("rcv_report.", {
	{0, U64, "delivered_pkts", "Packets that came"},
	{8, U64, "seen_end", "One past the highest transmission that came"},
	{16, U32, "stamp", "Its stamp, echoed (16 ns)"},
	{20, U32, "held", "Time since it came (16 ns)"},
	{24, U32, "arrived", "Receiver's clock when it came (16 ns)"},
	{28, U32, "span", "First to last arrival since the state before (16 ns)"},
	{32, U32, "span_pkts", "Packets that came in it after its first moment"},
	{36, U32, "least_delay", "Least difference of the clocks (16 ns)"},
	{40, U32, "late", "Most that a packet was sent before one that overtook it (16 ns)"},
	{44, U32, "retransmitted_pkts", "Packets that were retransmitted, and had arrived"},
})
local trans_report_group = group("trans_report.", {
	{0, U64, "lower", "First packet number not acknowledged"},
	{8, U64, "upper", "Next new packet number"},
	{16, U64, "heard_end", "One past the latest state of the receiver"},
	{24, U32, "queued_pkts", "Packets waiting to be sent"},
	{28, U32, "held_us", "Time since that state came (us)"},
})
local ack2_group = group("ack2.", {
	{0, U64, "ack_pn", "Packet number of the receiver's report"},
	{8, U64, "lower", "Acknowledged by it"},
	{16, U32, "stamp_us", "Transmitter's clock (us)"},
	{20, 12},
})
local nak_group = group("nak.", {
	{0, U64, "base", "Base"},
	{8, U16, "n_losses", "Number of losses"},
	{10, 22},
})
local delay_warning_group = group("delay_warning.", {
	{0, U64, "highest_end", "One past the highest packet number seen"},
	{8, U16, "pct_milli", "PCT (1/1000)"},
	{10, U16, "pdt_milli", "PDT (1/1000)"},
	{12, 20},
})
local bitmap_group = group("bitmap.", {
	{0, U64, "first", "First packet number"},
	{8, U16, "pkts", "Packets"},
	{10, 22},
})
local params_body = group("params.", {
	{0, CID, "initiator_cid", "Initiator's identifier"},
	{4, U32, "chunk_bytes", "Bytes of a chunk"},
	{8, U32, "window_pkts", "Window (packets)"},
	{12, U32, "period_us", "Period of states (us)"},
	{16, U64, "first_pn", "First packet number"},
	{24, U64, "object_bytes", "Bytes of the stream"},
	{32, U16, "payload_bytes", "Bytes of payload"},
	{34, U8, "name_bytes", "Bytes of the name"},
	{35, U8, "n_options", "Options of the profile"},
	{36, U8, "profile", "Profile"},
	{37, U8, "recovery", "Recovery", RECOVERY_NAMES},
	{38, U16, "repair_pkts", "Repair packets of a chunk at most"},
	{40, TOKEN, "initiator_token", "Initiator's token"},
	{48, CID, "reply_cid", "Offered for a reply"},
	{52, RAW16, "reply_cookie", "Cookie of that offer"},
})
local open_group = group("open.", {
	{0, U32, "stamp_us", "Initiator's clock (us)"},
	{4, CID, "answer_cid", "Initiator's identifier, for hints"},
	{8, 24},
})
local accept_group = group("accept.", {
	{0, CID, "acceptor_cid", "Acceptor's identifier"},
	{4, U32, "stamp_us", "Initiator's clock, echoed (us)"},
	{8, RAW16, "cookie", "Cookie"},
	{24, U32, "buffer_chunks", "Buffers"},
	{28, U8, "refused", "Refused", REFUSED_NAMES},
	{29, 3},
})
local confirm_group = group("confirm.", {
	{0, CID, "acceptor_cid", "Acceptor's identifier"},
	{4, RAW16, "cookie", "Cookie"},
	{20, 12},
})
local release_group = group("release.", {
	{0, U64, "chunks", "Chunks"},
	{8, U64, "total_bytes", "Bytes"},
	{16, U64, "pn_end", "One past the last packet number"},
	{24, U8, "stage", "Stage", STAGE_NAMES},
	{25, U8, "status", "Status", STATUS_NAMES},
	{26, 6},
})
local probe_group = group("probe.", {
	{0, U64, "stamp_ns", "Prober's clock (ns)"},
	{8, U64, "made_us", "Cookie made (us)"},
	{16, U32, "index", "Index in the train"},
	{20, U32, "count", "Packets of the train"},
	{24, U16, "padding_bytes", "Bytes of padding"},
	{26, U16, "train", "Train"},
	{28, CID, "sa", "SA, by the answering end's number"},
})
local probe_answer_group = group("probe_answer.", {
	{0, U64, "stamp_ns", "Prober's clock, echoed (ns)"},
	{8, U32, "index", "Index asked for"},
	{12, U32, "total", "Arrivals noted"},
	{16, U32, "heard", "Packets heard"},
	{20, U16, "train", "Train"},
	{22, U16, "n_words", "Number of words"},
	{24, U8, "status", "Status", REFUSED_NAMES},
	{25, 7},
})
local ask_group = group("ask.", {
	{0, U64, "handshake", "Handshake"},
	{8, 24},
})
local ask_body = group("ask.", {
	{0, RAW32, "padding", "Padding"},
})
local cookie_group = group("cookie.", {
	{0, U64, "handshake", "Handshake"},
	{8, RAW16, "cookie", "Cookie"},
	{24, 8},
})
local path_group = group("path.", {
	{0, U64, "token", "Token"},
	{8, 24},
})
local crypto_group = group("crypto.", {
	{0, U64, "handshake", "Handshake"},
	{8, RAW16, "cookie", "Cookie"},
	{24, U32, "offset", "Offset"},
	{28, U32, "acked", "Acknowledged up to"},
})
local crypto_body = group("crypto.", {
	{0, U16, "bytes", "Bytes"},
	{2, U16, "padding_bytes", "Bytes of padding"},
})
local release_body = group("release.", {
	{0, RAW16, "digest", "Digest (XXH3-128)"},
})

local flags_field = define(ProtoField.uint8, "flags", "Flags", base.HEX)
local DATA_FLAGS = {
	define(ProtoField.bool, "flags.retransmission", "Retransmission", 8, nil, 0x01),
	define(ProtoField.bool, "flags.pair_first", "First of a pair", 8, nil, 0x02),
	define(ProtoField.bool, "flags.pair_second", "Second of a pair", 8, nil, 0x04),
}
local PROBE_FLAGS = {
	define(ProtoField.bool, "flags.echo", "Echo", 8, nil, 0x01),
	define(ProtoField.bool, "flags.ask", "Ask", 8, nil, 0x02),
	define(ProtoField.bool, "flags.fetch", "Fetch", 8, nil, 0x04),
}
local COOKIE_FLAGS = {
	define(ProtoField.bool, "flags.later", "Begin again later", 8, nil, 0x01),
}
local CRYPTO_FLAGS = {
	define(ProtoField.bool, "flags.answer", "Answer", 8, nil, 0x01),
}
local CONFIRM_FLAGS = {
	define(ProtoField.bool, "flags.offered", "Offered by a handshake", 8, nil, 0x01),
}
local STATE_FLAGS = {
	define(ProtoField.bool, "flags.losses", "Losses told", 8, nil, 0x01),
	define(ProtoField.bool, "flags.delivery", "Delivery told", 8, nil, 0x02),
	define(ProtoField.bool, "flags.behind", "Offers less, since its port overflowed", 8, nil, 0x04),
}

local tag_field = define(ProtoField.bytes, "tag", "Tag", base.NONE)
local payload_field = define(ProtoField.bytes, "payload", "Payload", base.NONE)
local sealed_field = define(ProtoField.bytes, "sealed", "Sealed", base.NONE)
local name_field = define(ProtoField.string, "params.name", "Name", base.UNICODE)
local option_fields = {
	number = define(ProtoField.uint8, "option.number", "Option", base.DEC),
	bits = define(ProtoField.uint64, "option.bits", "Its value (binary64)", base.HEX),
}
local holes_field = define(ProtoField.none, "holes", "Holes")
local losses_field = define(ProtoField.none, "losses", "Losses")
local padding_field = define(ProtoField.bytes, "padding", "Padding", base.NONE)
local crypto_field = define(ProtoField.bytes, "crypto.data", "Bytes of TLS", base.NONE)
local words_field = define(ProtoField.uint64, "probe_answer.words", "Word", base.HEX)
local bits_field = define(ProtoField.uint64, "bitmap.bits", "Arrived", base.HEX)
local range_fields = {
	range = define(ProtoField.none, "range", "Range"),
	offset = define(ProtoField.uint32, "range.offset", "Offset", base.DEC),
	count = define(ProtoField.uint32, "range.count", "Count", base.DEC),
	first = define(ProtoField.uint64, "range.first", "First packet number", base.DEC),
}

local function define_expert(filter, label, kind, severity)
	return ProtoExpert.new("wavehaul.expert." .. filter, label, kind, severity)
end

local short_expert = define_expert("short", "Shorter than its type needs",
	expert.group.MALFORMED, expert.severity.ERROR)
local version_expert = define_expert("version", "Unknown version",
	expert.group.UNDECODED, expert.severity.WARN)
local type_expert = define_expert("type", "Unknown type",
	expert.group.UNDECODED, expert.severity.WARN)
local length_expert = define_expert("length", "Length and fields disagree",
	expert.group.MALFORMED, expert.severity.ERROR)
local reserved_expert = define_expert("reserved", "Reserved bytes are not zero",
	expert.group.PROTOCOL, expert.severity.WARN)
local cut_expert = define_expert("cut", "The rest was not captured",
	expert.group.UNDECODED, expert.severity.NOTE)

wavehaul.fields = fields
wavehaul.experts = {
	short_expert, version_expert, type_expert, length_expert, reserved_expert, cut_expert,
}

local function is_zero(range)
	return not range:raw():find("[^%z]")
end

-- Members in the order of their places, as far as they were captured.
local function add_group(tree, range, members)
	for _, member in ipairs(members) do
		if member[1] + member.bytes > range:len() then
			return
		end

		local piece = range(member[1], member.bytes)

		if member.field ~= nil then
			tree:add_le(member.field, piece)
		elseif not is_zero(piece) then
			tree:add(reserved, piece):add_proto_expert_info(reserved_expert)
		else
			tree:add(reserved, piece)
		end
	end
end

-- `count` ranges from body(at) on, as far as they were captured.
local function add_ranges(tree, field, body, at, count, base_pn)
	local captured = math.min(count, math.floor((body:len() - at) / RANGE_BYTES))
	local list

	if captured <= 0 then
		return
	end
	list = tree:add(field, body(at, captured * RANGE_BYTES))
	for i = 0, captured - 1 do
		local piece = body(at + i * RANGE_BYTES, RANGE_BYTES)
		local count_here = piece(4, 4):le_uint()
		local first = base_pn + UInt64(piece(0, 4):le_uint())
		local item = list:add(range_fields.range, piece)

		item:set_text(string.format("%d from pn %s on", count_here, tostring(first)))
		item:add_le(range_fields.offset, piece(0, 4))
		item:add_le(range_fields.count, piece(4, 4))
		item:add(range_fields.first, piece(0, 4), first):set_generated()
	end
end

-- What follows the head up to `bytes` of it, as one field.
local function add_rest(tree, body, at, bytes, field)
	local captured = math.min(bytes, body:len() - at)

	if captured > 0 then
		tree:add(field, body(at, captured))
	end
end

local function pn_of(range, at)
	return tostring(range(at, 8):le_uint64())
end

-- The types. `fields` are in the head, `fixed` begins the body; `rest` adds what follows that and
-- returns its length as the fields give it, and what the line of the packet is to say.
local function data_rest(tree, head, body)
	local at = head(FIELDS_AT, 32)
	local payload_bytes = at(24, 2):le_uint()

	add_rest(tree, body, 0, payload_bytes, payload_field)
	return payload_bytes, string.format("chunk %d index %d of %d+%d, %d bytes",
		at(8, 4):le_uint(), at(18, 2):le_uint(), at(20, 2):le_uint(), at(22, 2):le_uint(),
		payload_bytes)
end

local function rcv_report_rest(tree, head, body)
	local at = head(FIELDS_AT, 32)
	local holes = body(60, 4):le_uint()

	local flags = head(2, 1):uint()
	local behind_at = 64 + holes * RANGE_BYTES
	local behind = 0

	local function add_behind(members, bytes)
		if body:len() > behind_at + behind then
			add_group(tree, body(behind_at + behind), members)
		end
		behind = behind + bytes
	end

	add_ranges(tree, holes_field, body, 64, holes, at(24, 8):le_uint64())
	if flags % 2 == 1 then
		add_behind(losses_body, 32)
	end
	if flags % 4 >= 2 then
		add_behind(delivery_body, 48)
	end
	return holes * RANGE_BYTES + behind, string.format("lower %s, highest end %s, %d holes",
		pn_of(at, 0), pn_of(at, 16), holes)
end

local function trans_report_rest(_, head)
	return 0, string.format("lower %s, upper %s", pn_of(head, FIELDS_AT),
		pn_of(head, FIELDS_AT + 8))
end

local function ack2_rest(_, head)
	return 0, string.format("of state %s, lower %s", pn_of(head, FIELDS_AT),
		pn_of(head, FIELDS_AT + 8))
end

local function nak_rest(tree, head, body)
	local losses = head(FIELDS_AT + 8, 2):le_uint()

	add_ranges(tree, losses_field, body, 0, losses, head(FIELDS_AT, 8):le_uint64())
	return losses * RANGE_BYTES, string.format("%d losses", losses)
end

local function delay_warning_rest(_, head)
	return 0, string.format("PCT %.3f, PDT %.3f", head(FIELDS_AT + 8, 2):le_uint() / 1000,
		head(FIELDS_AT + 10, 2):le_uint() / 1000)
end

local function bitmap_rest(tree, head, body)
	local pkts = head(FIELDS_AT + 8, 2):le_uint()
	local words = math.floor((pkts + 63) / 64)
	local arrived = 0

	for at = 0, math.min(words, math.floor(body:len() / WORD_BYTES)) * WORD_BYTES - 1 do
		local bits = body(at, 1):uint()

		if at % WORD_BYTES == 0 then
			tree:add_le(bits_field, body(at, WORD_BYTES))
		end
		while bits > 0 do
			arrived = arrived + bits % 2
			bits = math.floor(bits / 2)
		end
	end
	return words * WORD_BYTES, string.format("from %s, %d of %d arrived",
		pn_of(head, FIELDS_AT), arrived, pkts)
end

local function params_rest(tree, _, body)
	local name_bytes = body(34, 1):uint()
	local option_bytes = OPTION_BYTES * body(35, 1):uint()
	local rest_bytes = option_bytes + name_bytes
	local object_bytes = body(24, 8):le_uint64()
	local size = object_bytes == UNKNOWN and "unknown" or tostring(object_bytes)
	local name = ""

	if body:len() >= PARAMS_BYTES + rest_bytes then
		for at = PARAMS_BYTES, PARAMS_BYTES + option_bytes - 1, OPTION_BYTES do
			tree:add_le(option_fields.number, body(at + 8, 1))
			tree:add_le(option_fields.bits, body(at, 8))
		end
	end
	if name_bytes > 0 and body:len() >= PARAMS_BYTES + rest_bytes then
		name = body(PARAMS_BYTES + option_bytes, name_bytes):string(ENC_UTF_8)
		tree:add_packet_field(name_field, body(PARAMS_BYTES + option_bytes, name_bytes), ENC_UTF_8)
	end
	return rest_bytes, string.format("'%s', bytes: %s", name, size)
end

local function accept_rest(_, head)
	return 0, REFUSED_NAMES[head(FIELDS_AT + 28, 1):uint()]
end

local function release_rest(_, head)
	local stage = head(FIELDS_AT + 24, 1):uint()
	local status = head(FIELDS_AT + 25, 1):uint()

	return 0, string.format("%s, %s", STAGE_NAMES[stage] or stage,
		STATUS_NAMES[status] or status)
end

local function probe_rest(tree, head, body)
	local at = head(FIELDS_AT, 32)
	local padding_bytes = at(24, 2):le_uint()

	add_rest(tree, body, 0, padding_bytes, padding_field)
	return padding_bytes, string.format("train %d, %d of %d", at(26, 2):le_uint(),
		at(16, 4):le_uint(), at(20, 4):le_uint())
end

local function probe_answer_rest(tree, head, body)
	local at = head(FIELDS_AT, 32)
	local words = at(22, 2):le_uint()

	for i = 0, math.min(words, math.floor(body:len() / WORD_BYTES)) - 1 do
		tree:add_le(words_field, body(i * WORD_BYTES, WORD_BYTES))
	end
	return words * WORD_BYTES, string.format("train %d, %d of %d arrivals", at(20, 2):le_uint(),
		words, at(12, 4):le_uint())
end

local function ask_rest(_, head)
	return 0, string.format("handshake 0x%s", head(FIELDS_AT, 8):le_uint64():tohex())
end

local function path_rest(_, head)
	return 0, string.format("token 0x%s", head(FIELDS_AT, 8):le_uint64():tohex())
end

local function crypto_rest(tree, head, body)
	local at = head(FIELDS_AT, 32)
	local bytes = body:len() >= 4 and body(0, 2):le_uint() or 0
	local padding_bytes = body:len() >= 4 and body(2, 2):le_uint() or 0

	add_rest(tree, body, 4, bytes, crypto_field)
	add_rest(tree, body, 4 + bytes, padding_bytes, padding_field)
	return bytes + padding_bytes, string.format("%d bytes from %d on, acknowledged up to %d",
		bytes, at(24, 4):le_uint(), at(28, 4):le_uint())
end

local types = {
	[1] = {fields = data_group, flags = DATA_FLAGS, rest = data_rest},
	[2] = {fields = data_group, flags = DATA_FLAGS, rest = data_rest},
	[3] = {fields = rcv_report_group, flags = STATE_FLAGS, fixed = rcv_report_body, fixed_bytes = 64,
		rest = rcv_report_rest},
	[4] = {fields = trans_report_group, rest = trans_report_rest},
	[5] = {fields = ack2_group, rest = ack2_rest},
	[6] = {fields = nak_group, rest = nak_rest},
	[7] = {fields = delay_warning_group, rest = delay_warning_rest},
	[8] = {fields = bitmap_group, rest = bitmap_rest},
	[9] = {fields = open_group, fixed = params_body, fixed_bytes = PARAMS_BYTES, rest = params_rest},
	[10] = {fields = accept_group, rest = accept_rest},
	[11] = {fields = confirm_group, flags = CONFIRM_FLAGS, fixed = params_body, fixed_bytes = PARAMS_BYTES,
		rest = params_rest},
	[12] = {fields = release_group, fixed = release_body, fixed_bytes = 16,
		rest = release_rest},
	[13] = {fields = probe_group, flags = PROBE_FLAGS, rest = probe_rest},
	[14] = {fields = probe_answer_group, flags = PROBE_FLAGS, rest = probe_answer_rest},
	[15] = {fields = ask_group, fixed = ask_body, fixed_bytes = 32, rest = ask_rest},
	[16] = {fields = cookie_group, flags = COOKIE_FLAGS, rest = ask_rest},
	[17] = {fields = crypto_group, flags = CRYPTO_FLAGS, fixed = crypto_body, fixed_bytes = 4,
		rest = crypto_rest},
	[18] = {fields = path_group, flags = CRYPTO_FLAGS, rest = path_rest},
}

local function add_flags(tree, range, bits)
	local item = tree:add(flags_field, range)

	for _, bit in ipairs(bits or {}) do
		item:add(bit, range)
	end
end

wavehaul.prefs.keylog = Pref.string("Keylog", "", "The file that a wavehaul wrote with --keylog")
wavehaul.prefs.open_data = Pref.bool("Open data", false,
	"Data, repair and a probe's trains too, some hundredth of a second each packet")

local keylog -- nil: there is none

function wavehaul.prefs_changed()
	keylog = nil
	if wavehaul.prefs.keylog ~= "" then
		keylog = keys.read_keylog(wavehaul.prefs.keylog)
	end
end

-- Data, repair, and what trains are made of.
local function is_many(tvb)
	local kind = tvb(1, 1):uint()

	return kind <= 2 or (kind == 13 and tvb(2, 1):uint() == 0)
end

-- A sealed packet with its body as it was, or nil.
local function opened(tvb)
	local whole = tvb:captured_len() == tvb:reported_len()
	local body

	if keylog == nil or not whole or (is_many(tvb) and not wavehaul.prefs.open_data) then
		return nil
	end
	body = keys.open(keylog, tvb:raw())
	if body == nil then
		return nil
	end
	return ByteArray.new(tvb:raw(0, HEAD_BYTES) .. body, true):tvb("Opened")
end

-- Body and its length, which the fields of a sealed packet do not tell; nil: nothing to compare.
local function add_body(tree, tvb, known)
	local head = tvb(0, HEAD_BYTES)
	local fixed_bytes = known.fixed_bytes or 0
	local captured = tvb:captured_len() - HEAD_BYTES
	local body = tvb(HEAD_BYTES, captured)
	local plain = head(3, 1):uint() ~= 0 and opened(tvb)
	local rest_bytes, line

	if plain then
		body = plain(HEAD_BYTES, captured)
	elseif head(3, 1):uint() ~= 0 then
		add_rest(tree, body, 0, captured, sealed_field)
		return nil, "sealed"
	end
	if tvb:reported_len() < HEAD_BYTES + fixed_bytes then
		tree:add_proto_expert_info(short_expert)
		return nil, "short"
	end
	if known.fixed ~= nil then
		add_group(tree, body, known.fixed)
	end
	if captured < fixed_bytes then
		return nil, "cut"
	end
	rest_bytes, line = known.rest(tree, head, body)
	return HEAD_BYTES + fixed_bytes + rest_bytes, line
end

local function add_packet(tree, tvb)
	local head = tvb(0, HEAD_BYTES)
	local number = head(1, 1):uint()
	local known = types[number]
	local told_bytes, line

	add_group(tree, head, head_group)
	if head(0, 1):uint() ~= VERSION then
		tree:add_proto_expert_info(version_expert)
		return "unknown version"
	end
	add_flags(tree, head(2, 1), known and known.flags)
	tree:add(tag_field, head(TAG_AT, TAG_BYTES))
	if known == nil then
		tree:add_proto_expert_info(type_expert)
		return "unknown type"
	end
	add_group(tree, head(FIELDS_AT, TAG_AT - FIELDS_AT), known.fields)
	told_bytes, line = add_body(tree, tvb, known)
	if told_bytes ~= nil and told_bytes ~= tvb:reported_len() then
		tree:add_proto_expert_info(length_expert,
			string.format("The packet has %d bytes, its fields say %d",
				tvb:reported_len(), told_bytes))
	end
	return string.format("%s cid 0x%08x pn %s: %s", TYPE_NAMES[number],
		head(4, 4):le_uint(), pn_of(head, 8), line)
end

function wavehaul.dissector(tvb, pinfo, root)
	local tree = root:add(wavehaul, tvb())

	pinfo.cols.protocol = "wavehaul"
	if tvb:captured_len() < tvb:reported_len() then
		tree:add_proto_expert_info(cut_expert)
	end
	if tvb:captured_len() >= HEAD_BYTES then
		pinfo.cols.info = add_packet(tree, tvb)
	elseif tvb:reported_len() < HEAD_BYTES then
		tree:add_proto_expert_info(short_expert)
	end
	return tvb:captured_len()
end

DissectorTable.get("udp.port"):add(UDP_PORTS, wavehaul)
