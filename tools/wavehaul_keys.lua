-- SPDX-License-Identifier: BSD-3-Clause

-- Opens sealed packets for wavehaul.lua, given what --keylog wrote: HKDF with SHA-256 (RFC 5869) and
-- AES-GCM (NIST SP 800-38D) in Lua, for Wiresharks whose Lua has no ciphers. What each key is for
-- stands in lib/seal/gcm_seal.c.

local bits = bit32 or bit
local band, bor, bxor, bnot = bits.band, bits.bor, bits.bxor, bits.bnot
local lshift, rshift = bits.lshift, bits.rshift
local values = unpack or table.unpack
local WORD = 0x100000000

local function rotate(x, n)
	return bor(rshift(x, n), lshift(x, 32 - n)) % WORD
end

local function word_at(bytes, at)
	local a, b, c, d = bytes:byte(at, at + 3)

	return ((a * 256 + b) * 256 + c) * 256 + d
end

local function bytes_of(word)
	word = word % WORD
	return string.char(math.floor(word / 0x1000000), math.floor(word / 0x10000) % 256,
		math.floor(word / 0x100) % 256, word % 256)
end

-- SHA-256, FIPS 180-4. Its constants are the first bits of roots of primes.

local round_constants, initial = {}, {}

do
	local function fraction(x)
		return math.floor((x - math.floor(x)) * WORD)
	end
	local n = 2

	while #round_constants < 64 do
		local prime = true

		for divisor = 2, math.floor(math.sqrt(n)) do
			prime = prime and n % divisor ~= 0
		end
		if prime then
			if #initial < 8 then
				initial[#initial + 1] = fraction(math.sqrt(n))
			end
			round_constants[#round_constants + 1] = fraction(n ^ (1 / 3))
		end
		n = n + 1
	end
end

local function sha256_block(state, bytes, at)
	local w = {}
	local a, b, c, d = state[1], state[2], state[3], state[4]
	local e, f, g, h = state[5], state[6], state[7], state[8]

	for i = 1, 16 do
		w[i] = word_at(bytes, at + 4 * (i - 1))
	end
	for i = 17, 64 do
		local s0 = bxor(rotate(w[i - 15], 7), rotate(w[i - 15], 18), rshift(w[i - 15], 3))
		local s1 = bxor(rotate(w[i - 2], 17), rotate(w[i - 2], 19), rshift(w[i - 2], 10))

		w[i] = (w[i - 16] + s0 % WORD + w[i - 7] + s1 % WORD) % WORD
	end
	for i = 1, 64 do
		local s1 = bxor(rotate(e, 6), rotate(e, 11), rotate(e, 25)) % WORD
		local chosen = bxor(band(e, f), band(bnot(e), g)) % WORD
		local t1 = h + s1 + chosen + round_constants[i] + w[i]
		local s0 = bxor(rotate(a, 2), rotate(a, 13), rotate(a, 22)) % WORD
		local t2 = s0 + bxor(band(a, b), band(a, c), band(b, c)) % WORD

		h, g, f, e = g, f, e, (d + t1) % WORD
		d, c, b, a = c, b, a, (t1 + t2) % WORD
	end
	for i, value in ipairs({a, b, c, d, e, f, g, h}) do
		state[i] = (state[i] + value) % WORD
	end
end

local function sha256(bytes)
	local state = {values(initial)}
	local padded = bytes .. "\128" .. ("\0"):rep((55 - #bytes) % 64) .. "\0\0\0\0" ..
		bytes_of(#bytes * 8)
	local words = {}

	for at = 1, #padded, 64 do
		sha256_block(state, padded, at)
	end
	for i = 1, 8 do
		words[i] = bytes_of(state[i])
	end
	return table.concat(words)
end

local function mask(key, value)
	return (key .. ("\0"):rep(64 - #key)):gsub(".", function(c)
		return string.char(bxor(c:byte(), value))
	end)
end

local function hmac(key, bytes)
	local inner, outer = mask(key, 0x36), mask(key, 0x5c)

	return sha256(outer .. sha256(inner .. bytes))
end

local function hkdf_expand(secret, purpose, count)
	local made, last, number = "", "", 1

	while #made < count do
		last = hmac(secret, last .. purpose .. string.char(number))
		made = made .. last
		number = number + 1
	end
	return made:sub(1, count)
end

-- AES, FIPS 197, one way.

local sbox = {}

local function double(x)
	return x < 128 and 2 * x or bxor(2 * x - 256, 0x1b)
end

local function turn(x, n)
	return band(bor(lshift(x, n), rshift(x, 8 - n)), 255)
end

-- p goes through all numbers by multiplication with 3, q is its inverse.
do
	local p, q = 1, 1

	repeat
		p = bxor(p, double(p))
		for _, shift in ipairs({1, 2, 4}) do
			q = band(bxor(q, lshift(q, shift)), 255)
		end
		if q >= 128 then
			q = bxor(q, 9)
		end
		sbox[p] = bxor(q, turn(q, 1), turn(q, 2), turn(q, 3), turn(q, 4), 0x63)
	until p == 1
	sbox[0] = 0x63
end

local function substitute(word)
	return sbox[rshift(word, 24) % 256] * 0x1000000 + sbox[rshift(word, 16) % 256] * 0x10000 +
		sbox[rshift(word, 8) % 256] * 0x100 + sbox[word % 256]
end

local function expand_key(key)
	local words, count, constant = {}, #key / 4, 1

	for i = 0, count - 1 do
		words[i] = word_at(key, 4 * i + 1)
	end
	for i = count, 4 * (count + 7) - 1 do
		local word = words[i - 1]

		if i % count == 0 then
			word = bxor(substitute(rotate(word, 24)), constant * 0x1000000) % WORD
			constant = double(constant)
		elseif count > 6 and i % count == 4 then
			word = substitute(word)
		end
		words[i] = bxor(words[i - count], word) % WORD
	end
	return {words = words, rounds = count + 6}
end

local function encrypt_block(schedule, block)
	local s = {block:byte(1, 16)}

	local function add_round_key(round)
		for column = 0, 3 do
			local word = schedule.words[4 * round + column]

			for row = 0, 3 do
				local at = 4 * column + row + 1

				s[at] = bxor(s[at], rshift(word, 24 - 8 * row) % 256)
			end
		end
	end

	add_round_key(0)
	for round = 1, schedule.rounds do
		local t = {}

		for column = 0, 3 do
			for row = 0, 3 do
				t[4 * column + row + 1] = sbox[s[4 * ((column + row) % 4) + row + 1]]
			end
		end
		s = t
		if round < schedule.rounds then
			s = {}
			for at = 1, 13, 4 do
				local a, b, c, d = t[at], t[at + 1], t[at + 2], t[at + 3]
				local all = bxor(a, b, c, d)

				s[at] = bxor(a, all, double(bxor(a, b)))
				s[at + 1] = bxor(b, all, double(bxor(b, c)))
				s[at + 2] = bxor(c, all, double(bxor(c, d)))
				s[at + 3] = bxor(d, all, double(bxor(d, a)))
			end
		end
		add_round_key(round)
	end
	return string.char(values(s))
end

-- GCM, NIST SP 800-38D: 6.3 and 7.2.

local function words_of(block)
	return {word_at(block, 1), word_at(block, 5), word_at(block, 9), word_at(block, 13)}
end

local function multiply(x, h)
	local z1, z2, z3, z4 = 0, 0, 0, 0
	local v1, v2, v3, v4 = h[1], h[2], h[3], h[4]

	for i = 0, 127 do
		if rshift(x[math.floor(i / 32) + 1], 31 - i % 32) % 2 == 1 then
			z1, z2, z3, z4 = bxor(z1, v1), bxor(z2, v2), bxor(z3, v3), bxor(z4, v4)
		end

		local low = v4 % 2

		v4 = bor(rshift(v4, 1), lshift(v3, 31))
		v3 = bor(rshift(v3, 1), lshift(v2, 31))
		v2 = bor(rshift(v2, 1), lshift(v1, 31))
		v1 = rshift(v1, 1)
		if low == 1 then
			v1 = bxor(v1, 0xe1000000)
		end
	end
	return {z1 % WORD, z2 % WORD, z3 % WORD, z4 % WORD}
end

local function ghash(h, bytes)
	local y = {0, 0, 0, 0}

	for at = 1, #bytes, 16 do
		local x = words_of(bytes:sub(at, at + 15))

		for i = 1, 4 do
			x[i] = bxor(x[i], y[i]) % WORD
		end
		y = multiply(x, h)
	end
	return bytes_of(y[1]) .. bytes_of(y[2]) .. bytes_of(y[3]) .. bytes_of(y[4])
end

local function padded(bytes)
	return bytes .. ("\0"):rep(-#bytes % 16)
end

local function exclusive(a, b)
	local made = {}

	for i = 1, #a do
		made[i] = string.char(bxor(a:byte(i), b:byte(i)))
	end
	return table.concat(made)
end

-- The plain text, or nil where the tag does not agree.
local function gcm_open(key, nonce, aad, sealed, tag)
	local h = words_of(encrypt_block(key, ("\0"):rep(16)))
	local proof = ghash(h, padded(aad) .. padded(sealed) .. "\0\0\0\0" .. bytes_of(#aad * 8) ..
		"\0\0\0\0" .. bytes_of(#sealed * 8))
	local plain = {}

	if exclusive(proof, encrypt_block(key, nonce .. bytes_of(1))) ~= tag then
		return nil
	end
	for at = 1, #sealed, 16 do
		local some = sealed:sub(at, at + 15)

		plain[#plain + 1] = exclusive(some,
			encrypt_block(key, nonce .. bytes_of(2 + (at - 1) / 16)):sub(1, #some))
	end
	return table.concat(plain)
end

-- Packets.

local KEY_BYTES = {["aes-128-gcm"] = 16, ["aes-256-gcm"] = 32}
local NONCE_BYTES = 12
local TAG_AT, BODY_AT = 48, 64
local OPEN, ACCEPT, CONFIRM, PROBE, PROBE_ANSWER = 9, 10, 11, 13, 14
local ASK = 2 -- a flag
local PROBE_SA_AT = 44
local EPOCHS = 4
local EPOCHS_TRIED = 3 -- of control packets, which do not tell theirs

local function from_hex(text)
	return (text:gsub("%x%x", function(two)
		return string.char(tonumber(two, 16))
	end))
end

-- Number as 8 bytes, the low ones first.
local function low_first(number)
	return bytes_of(number):reverse() .. bytes_of(math.floor(number / WORD)):reverse()
end

-- Lines of a keylog by connection identifier and use; the same identifier may be there again.
local function read_keylog(path)
	local file = io.open(path, "r")
	local found, known = {}, {}

	if file == nil then
		return nil
	end
	for line in file:lines() do
		local cid, cipher, use, secret, about =
			line:match("^(%x+) (%S+) (%S+) (%x+) ?(%x*)$")

		if cid ~= nil and KEY_BYTES[cipher] ~= nil and not known[line] then
			local name = use .. tonumber(cid, 16)

			known[line] = true
			found[name] = found[name] or {}
			table.insert(found[name], 1, {secret = from_hex(secret),
				about = from_hex(about):reverse(), key_bytes = KEY_BYTES[cipher],
				epochs = {}})
		end
	end
	file:close()
	return found
end

-- By its number, or, of an SA's keys, by what it is about.
local function epoch_of(one, number)
	local epoch = one.epochs[number]

	if epoch == nil then
		local which = #one.about == 8 and one.about or low_first(number)
		local bytes = hkdf_expand(one.secret, "epoch" .. which, NONCE_BYTES + 32)

		epoch = {iv = bytes:sub(1, NONCE_BYTES),
			key = expand_key(bytes:sub(NONCE_BYTES + 1, NONCE_BYTES + one.key_bytes))}
		one.epochs[number] = epoch
	end
	return epoch
end

local function open_with(one, number, packet, counter)
	local epoch = epoch_of(one, number)
	local nonce = exclusive(epoch.iv, packet:sub(2, 2) .. "\0\0\0" .. counter)

	return gcm_open(epoch.key, nonce, packet:sub(1, TAG_AT), packet:sub(BODY_AT + 1),
		packet:sub(TAG_AT + 1, BODY_AT))
end

local function le32(packet, at)
	return word_at(packet:sub(at + 1, at + 4):reverse(), 1)
end

-- Under which names the keys of a packet may stand: of its session, or of the SA.
local function names_of(packet, use, cid)
	local kind = packet:byte(2)

	if kind == OPEN or kind == CONFIRM then
		return {"sa" .. cid}
	elseif kind == ACCEPT then
		return {"accept" .. cid}
	elseif cid == 0 and kind == PROBE and packet:byte(3) == ASK then
		return {"sa" .. le32(packet, PROBE_SA_AT)}
	elseif cid == 0 and (kind == PROBE or kind == PROBE_ANSWER) then
		return {"probe0"}
	end
	return {use .. cid}
end

-- The body of a sealed packet of whole bytes; nil: no key that was logged opens it.
local function open(keylog, packet)
	local kind = packet:byte(2)
	local data = kind == 1 or kind == 2
	local counter = data and packet:sub(17, 24) or packet:sub(9, 16)
	local cid = le32(packet, 4)
	local first = packet:byte(4) - 1
	local tried = EPOCHS_TRIED

	if data then
		first = rshift(le32(packet, 16), 24) + le32(packet, 20) * 0x100
		tried = 1
	end
	for _, name in ipairs(names_of(packet, data and "data" or "control", cid)) do
		for _, one in ipairs(keylog[name] or {}) do
			for i = 0, name:find("^control") and tried - 1 or 0 do
				local body = open_with(one, first + EPOCHS * i, packet, counter)

				if body ~= nil then
					return body
				end
			end
		end
	end
	return nil
end

return {
	read_keylog = read_keylog, open = open, sha256 = sha256, hkdf_expand = hkdf_expand,
	expand_key = expand_key, encrypt_block = encrypt_block, gcm_open = gcm_open,
}
