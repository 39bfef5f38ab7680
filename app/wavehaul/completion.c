/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul completion`: the scripts by which shells complete. They ask this program what can stand
 * where the tabulator is pressed (completion/offers.h), so that all shells offer the same.
 */

#include <stdio.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "completion/offers.h"
#include "verbs.h"

static const char bash_script[] =
	"# bash completion for wavehaul, made by `wavehaul completion bash`\n"
	"\n"
	"_wavehaul()\n"
	"{\n"
	"\tlocal program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}\n"
	"\tlocal what about files='' words=''\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $word == = ]]; then\n"
	"\t\tword=\n"
	"\tfi\n"
	"\twhile IFS=$'\\t' read -r what about; do\n"
	"\t\tcase $what in\n"
	"\t\t@files)\n"
	"\t\t\tfiles=yes\n"
	"\t\t\tcompopt -o default\n"
	"\t\t\tcontinue\n"
	"\t\t\t;;\n"
	"\t\t@jobs)\n"
	"\t\t\twhat=$(\"$program\" job list --all 2>/dev/null |\n"
	"\t\t\t\tsed -n 's/^\\([0-9][0-9]*\\) .*/\\1/p')\n"
	"\t\t\t;;\n"
	"\t\t@peers*)\n"
	"\t\t\t# Files come before HOST:PATH, where both are possible.\n"
	"\t\t\tif [[ $files && (-z $word || -n $(compgen -f -- \"$word\")) ]]; then\n"
	"\t\t\t\tcontinue\n"
	"\t\t\tfi\n"
	"\t\t\twhat=$(\"$program\" trust list --json 2>/dev/null |\n"
	"\t\t\t\tsed -n 's/^ *\"name\": \"\\([^\"]*\\)\".*/\\1'\"${what#@peers}\"'/p')\n"
	"\t\t\t;;\n"
	"\t\t@scenarios)\n"
	"\t\t\twhat=$(\"$program\" sim --list 2>/dev/null | sed 's/ .*//')\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\t\tif [[ $what == *[:=] ]]; then\n"
	"\t\t\tcompopt -o nospace\n"
	"\t\tfi\n"
	"\t\twords+=\" $what\"\n"
	"\tdone < <(\"$program\" completion words \"${COMP_WORDS[@]:1:COMP_CWORD}\")\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
	"}\n"
	"complete -F _wavehaul wavehaul\n";

static const char zsh_script[] =
	"#compdef wavehaul\n"
	"# zsh completion for wavehaul, made by `wavehaul completion zsh`\n"
	"\n"
	"_wavehaul() {\n"
	"\tlocal what about program=$words[1]\n"
	"\tlocal -a offers begun\n"
	"\n"
	"\twhile IFS=$'\\t' read -r what about; do\n"
	"\t\tcase $what in\n"
	"\t\t@files) _files ;;\n"
	"\t\t@jobs) compadd - ${(f)\"$($program job list --all 2>/dev/null |\n"
	"\t\t\tsed -n 's/^\\([0-9][0-9]*\\) .*/\\1/p')\"} ;;\n"
	"\t\t@peers*) compadd -S \"${${what#@peers}:- }\" - ${(f)\"$($program trust list --json "
	"\\\n"
	"\t\t\t2>/dev/null | sed -n 's/^ *\"name\": \"\\([^\"]*\\)\".*/\\1/p')\"} ;;\n"
	"\t\t@scenarios) compadd - ${(f)\"$($program sim --list 2>/dev/null | sed 's/ .*//')\"} "
	";;\n"
	"\t\t*=) begun+=($what) ;;\n"
	"\t\t*) offers+=(\"${what//:/\\\\:}:$about\") ;;\n"
	"\t\tesac\n"
	"\tdone < <($program completion words \"${(@)words[2,CURRENT]}\")\n"
	"\tcompadd -S '' -a begun\n"
	"\t_describe -t offers offer offers\n"
	"\t((compstate[nmatches]))\n"
	"}\n"
	"\n"
	"# Loaded by itself from a folder of $fpath, or read by `source`.\n"
	"if [[ $funcstack[1] == _wavehaul ]]; then\n"
	"\t_wavehaul \"$@\"\n"
	"else\n"
	"\tcompdef _wavehaul wavehaul\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion for wavehaul, made by `wavehaul completion fish`\n"
	"\n"
	"function __wavehaul\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l last (commandline -ct)\n"
	"\t$words[1] completion words $words[2..-1] \"$last\" | while read -l offer\n"
	"\t\tswitch $offer\n"
	"\t\tcase @files\n"
	"\t\t\t__fish_complete_path \"$last\"\n"
	"\t\tcase @jobs\n"
	"\t\t\t$words[1] job list --all 2>/dev/null |\n"
	"\t\t\t\tsed -n 's/^\\([0-9][0-9]*\\) *\\([^ ]*\\) *\\([^ ]*\\).*/\\1\\t\\2 \\3/p'\n"
	"\t\tcase '@peers*'\n"
	"\t\t\t$words[1] trust list --json 2>/dev/null |\n"
	"\t\t\t\tsed -n 's/^ *\"name\": \"\\([^\"]*\\)\".*/\\1'(string sub -s 7 "
	"$offer)'\\tpeer/p'\n"
	"\t\tcase @scenarios\n"
	"\t\t\t$words[1] sim --list 2>/dev/null | sed 's/ \\{1,\\}/\\t/'\n"
	"\t\tcase '*'\n"
	"\t\t\tprintf '%s\\n' $offer\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"\n"
	"complete -c wavehaul -f -a '(__wavehaul)'\n";

static const struct {
	const char *name;
	const char *script;
} shells[] = {
	{"bash", bash_script},
	{"zsh", zsh_script},
	{"fish", fish_script},
};

int wh_verb_completion(int argc, char **argv)
{
	struct wh_settings settings;
	int status;

	if (argc > 1 && strcmp(argv[1], "words") == 0) {
		wh_offers_print((uint32_t)argc - 2, argv + 2);
		return WH_EXIT_OK;
	}
	status = wh_settings_read(&settings, WH_VERB_COMPLETION, argc, argv);
	if (status != -1)
		return status;
	for (size_t i = 0; settings.operand_count == 1 && i < sizeof(shells) / sizeof(shells[0]);
		i++) {
		if (strcmp(settings.operands[0], shells[i].name) != 0)
			continue;
		fputs(shells[i].script, stdout);
		return WH_EXIT_OK;
	}
	return wh_fail(WH_EXIT_USAGE, "wavehaul completion needs the name of a shell, bash, zsh or "
				      "fish: for example `wavehaul completion bash`");
}
