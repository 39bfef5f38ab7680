# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause

# Sourced by tools/setup and tools/check: where the tree is, and one line per step with its time.

# Programs' messages are parsed, and EPOCHREALTIME has its point by the locale.
export LC_ALL=C.UTF-8

# shellcheck disable=SC2034 # for the scripts that source this
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

now_ms() {
	local now=${EPOCHREALTIME/./}

	echo "$((now / 1000))"
}

# step_line NAME START_MS RESULT: what became of the step that began at START_MS.
step_line() {
	local spent=$(($(now_ms) - $2))

	printf '%-11s %-56s %5d.%d s\n' "$1" "$3" "$((spent / 1000))" "$((spent % 1000 / 100))"
}

# take_turn FILE: who has it runs. Whatever this run starts has it, too, so that the next one waits
# for what is left of one that was killed.
take_turn() {
	[ -e "$1" ] || (umask 0 && : >"$1")
	exec 9<"$1"
	flock -n 9 && return
	echo "${0##*/}: another one runs, or ends; this one waits for it" >&2
	flock 9
}

# refuse STATUS SENTENCE: to the operator, and out.
refuse() {
	echo "${0##*/}: $2" >&2
	exit "$1"
}
