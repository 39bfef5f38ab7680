/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/link_model.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"

static int parse_gilbert_elliott(const char *text, struct wh_link_model *model)
{
	double field[4] = {0.0, 0.0, 0.0, 1.0}; /* P, R, H, K */
	unsigned int n_fields = 0;
	char copy[128];

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);

	char *rest = copy;

	for (char *part; (part = strsep(&rest, ",")) != NULL; n_fields++) {
		if (n_fields == 4 || wh_parse_share(part, &field[n_fields]) != 0)
			return -EINVAL;
	}
	if (n_fields < 2)
		return -EINVAL;
	model->loss_model = WH_LOSS_GILBERT_ELLIOTT;
	model->gilbert_elliott = (struct wh_gilbert_elliott){
		.good_to_bad = field[0],
		.bad_to_good = field[1],
		.loss_bad = 1.0 - field[2],
		.loss_good = 1.0 - field[3],
	};
	return 0;
}

int wh_link_model_parse_loss(const char *text, struct wh_link_model *model)
{
	if (strcmp(text, "bernoulli") == 0) {
		model->loss_model = WH_LOSS_BERNOULLI;
		return 0;
	}
	if (strncmp(text, "ge:", 3) == 0)
		return parse_gilbert_elliott(text + 3, model);
	if (strncmp(text, "ber:", 4) == 0)
		return wh_parse_share(text + 4, &model->bit_error) == 0 ? 0 : -EINVAL;
	return -EINVAL;
}
