-- SPDX-License-Identifier: BSD-3-Clause
--
-- Data of compute jobs, moved by wavehaul before and behind them (burst_buffer/lua of Slurm):
--
--     #BB_LUA wavehaul in=dtn2:run42 to=/scratch/run42
--     #BB_LUA wavehaul out=/scratch/run42/results to=dtn2:results
--
-- A job begins once all that it wants in is there, and holds no node meanwhile. What goes out goes
-- when it has ended. Each is moved by the job's user and with no right but his: slurmctld must be
-- root's, as setpriv(1) is asked for that. Copy this file beside slurm.conf.

-- What is run, and the options behind its verb; a site edits these.
local program = "wavehaul"
local options = {"--recursive", "--retries=10", "--quiet"}

local SAID_CHARS = 300 -- of what has failed, at its end

local ABSOLUTE, FAR = "^/[^%c]*$", "^[^-/:%s%c][^/:%s%c]*:[^%c]*$"

-- {in = ..., to = ...} or {out = ..., to = ...} of a line; nil: it is none of ours; false: wrong.
local function order_of(line)
	local text = line:match("^#BB_LUA%s+wavehaul%s*(.-)%s*$")
	local order, count = {}, 0

	if text == nil then
		return nil
	end
	for word in text:gmatch("%S+") do
		local key, value = word:match("^(%l+)=(.+)$")

		if key == nil or order[key] ~= nil then
			return false
		end
		order[key] = value
		count = count + 1
	end
	if count ~= 2 or order.to == nil then
		return false
	elseif order["in"] ~= nil then
		return order["in"]:match(FAR) and order.to:match(ABSOLUTE) and order or false
	end
	return order.out and order.out:match(ABSOLUTE) and order.to:match(FAR) and order or false
end

-- All orders of a script; nil, and a sentence: one is wrong. Slurm takes directives at the head.
local function orders_of(path)
	local orders = {}
	local file = io.open(path, "r")

	if file == nil then
		return nil, "cannot read the script of the job"
	end
	for line in file:lines() do
		local order = order_of(line)

		if order == false then
			file:close()
			return nil, "'" .. line .. "' is no order; write #BB_LUA wavehaul " ..
				"in=HOST:PATH to=/PATH, or out=/PATH to=HOST:PATH"
		elseif order ~= nil then
			orders[#orders + 1] = order
		end
	end
	file:close()
	return orders
end

local function quoted(word)
	return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- The user and the group of a job, as Slurm has them; nil: it has no such job.
local function owner_of(job)
	local told = io.popen("scontrol --oneliner show job " .. string.format("%d", job))
	local text = told ~= nil and told:read("*a") or ""

	if told ~= nil then
		told:close()
	end
	return text:match(" UserId=[^(]*%((%d+)%)"), text:match(" GroupId=[^(]*%((%d+)%)")
end

-- Runs words as a user. nil: they ended well; else what they said. Lua 5.1 has no exit status.
local function run_as(uid, gid, words)
	local text = {}
	local told, said, status

	for i, word in ipairs(words) do
		text[i] = quoted(word)
	end
	told = io.popen("setpriv --reuid=" .. uid .. " --regid=" .. gid ..
		" --init-groups --reset-env -- " .. table.concat(text, " ") ..
		" </dev/null 2>&1; echo \"exit status $?\"")
	said = told ~= nil and told:read("*a") or ""
	if told ~= nil then
		told:close()
	end
	status = said:match("exit status (%d+)%s*$")
	return status ~= "0" and said:gsub("%c+", "; "):sub(-SAID_CHARS) or nil
end

-- Moves all of a kind, one after the other. nil, and a sentence: one has failed.
local function move(job, path, kind)
	local orders, wrong = orders_of(path)
	local uid, gid

	if orders == nil then
		return nil, wrong
	end
	for _, order in ipairs(orders) do
		if order[kind] ~= nil then
			local words = {program, kind == "in" and "get" or "send"}
			local failed

			if uid == nil then
				uid, gid = owner_of(job)
			end
			if uid == nil or gid == nil then
				return nil, "Slurm does not say whose the job is"
			end
			for _, option in ipairs(options) do
				words[#words + 1] = option
			end
			words[#words + 1] = order[kind]
			words[#words + 1] = order.to
			failed = run_as(uid, gid, words)
			if failed ~= nil then
				return nil, order[kind] .. " to " .. order.to .. ": " .. failed
			end
		end
	end
	return true
end

local function answer(good, wrong)
	if good then
		return slurm.SUCCESS, ""
	end
	slurm.log_error("burst_buffer/lua: %s", wrong)
	return slurm.ERROR, wrong
end

function slurm_bb_job_process(path)
	return answer(orders_of(path))
end

function slurm_bb_data_in(job, path)
	return answer(move(job, path, "in"))
end

function slurm_bb_data_out(job, path)
	return answer(move(job, path, "out"))
end

local function nothing()
	return slurm.SUCCESS
end

-- There is no pool, and nothing of its own: data is in the job's own folders.
slurm_bb_pools, slurm_bb_setup, slurm_bb_real_size = nothing, nothing, nothing
slurm_bb_test_data_in, slurm_bb_test_data_out = nothing, nothing
slurm_bb_paths, slurm_bb_pre_run, slurm_bb_post_run = nothing, nothing, nothing
slurm_bb_job_teardown, slurm_bb_get_status = nothing, nothing
