/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/hand_over.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "machine/tree.h"

#define BUS     "/sys/bus/pci"
#define DEVICES BUS "/devices"

/* Before 80-drivers.rules, which loads the kernel's own driver. */
#define RULE "/etc/udev/rules.d/71-wavehaul-%s.rules"

/* A driver may be attached asynchronously. */
#define LOOKS        200
#define LOOK_WAIT_US 10000

/* 0 or a negative errno. Only a rule is a new file. */
static int put(const struct wh_machine *machine, const char *path, int flags, const char *text)
{
	char whole[PATH_MAX];
	size_t bytes = strlen(text);

	if ((size_t)snprintf(whole, sizeof(whole), "%s%s", machine->root, path) >= sizeof(whole))
		return -ENAMETOOLONG;

	int fd = open(whole, O_WRONLY | O_TRUNC | O_CLOEXEC | flags, 0644);

	if (fd < 0)
		return -errno;

	ssize_t written = write(fd, text, bytes);
	int rc = written == (ssize_t)bytes ? 0 : written < 0 ? -errno : -EIO;

	close(fd);
	return rc;
}

/* "": none */
static void driver_of(const struct wh_machine *machine, const struct wh_nic *nic, char name[32])
{
	wh_tree_link(machine->root, name, 32, DEVICES "/%s/driver", nic->address);
}

/* The driver that it gets then: `override`, or "\n" for the one that fits. */
static int change_driver(
	const struct wh_machine *machine, const struct wh_nic *nic, const char *override)
{
	char path[128];
	char before[32];
	char driver[32];

	driver_of(machine, nic, before);
	snprintf(path, sizeof(path), DEVICES "/%s/driver_override", nic->address);

	int rc = put(machine, path, 0, override);

	if (rc == 0 && before[0] != '\0') {
		snprintf(path, sizeof(path), BUS "/drivers/%s/unbind", before);
		rc = put(machine, path, 0, nic->address);
	}
	/* What a driver says against the NIC is told by the NIC's having none. */
	if (rc == 0)
		(void)put(machine, BUS "/drivers_probe", 0, nic->address);
	for (int i = 0; rc == 0 && i < LOOKS; i++) {
		driver_of(machine, nic, driver);
		if (override[0] == '\n' ? driver[0] != '\0' && strcmp(driver, before) != 0
					: strcmp(driver, override) == 0)
			return 0;
		usleep(LOOK_WAIT_US);
	}
	return rc != 0 ? rc : -ENODEV;
}

static bool load(const struct wh_machine *machine, const char *driver)
{
	char name[32];
	char modprobe[] = "modprobe";
	char *command[] = {modprobe, name, NULL};
	int status = -1;
	pid_t pid;

	if (wh_tree_exists(machine->root, BUS "/drivers/%s", driver))
		return true;
	snprintf(name, sizeof(name), "%s", driver);
	if (machine->live && posix_spawnp(&pid, command[0], NULL, NULL, command, environ) == 0)
		(void)waitpid(pid, &status, 0);
	if (status == 0)
		return true;
	return wh_fail(false,
		"the running kernel %s does not load %s: apt-get install linux-image-amd64, and "
		"boot it",
		machine->kernel, driver);
}

static void rule_path(const struct wh_nic *nic, char path[128])
{
	snprintf(path, 128, RULE, nic->address);
}

/* By then an initramfs may have given the NIC to the kernel's driver. */
static bool remember(const struct wh_machine *machine, const struct wh_nic *nic, const char *driver)
{
	char rule[1024];
	char path[128];

	int bytes = snprintf(rule, sizeof(rule),
		"# Made by `wavehaul nic bind`; `wavehaul nic release %s` removes it.\n"
		"ACTION==\"add\", SUBSYSTEM==\"pci\", KERNEL==\"%s\", ATTR{vendor}==\"0x%04x\", "
		"ATTR{device}==\"0x%04x\", DRIVER!=\"%s\", ATTR{driver_override}=\"%s\", "
		"RUN{builtin}+=\"kmod load %s\", RUN+=\"/bin/sh -c 'cd " DEVICES "/%%k; "
		"[ driver -ef " BUS "/drivers/%s ] && exit; "
		"[ ! -e driver ] || echo %%k >driver/unbind; "
		"echo %%k >" BUS "/drivers_probe'\"\n",
		nic->address, nic->address, nic->vendor, nic->device, driver, driver, driver,
		driver);

	WH_ASSERT(bytes < (int)sizeof(rule));
	rule_path(nic, path);

	int rc = put(machine, path, O_CREAT, rule);

	if (rc != 0)
		wh_complain("cannot write %s: %s; %s keeps its driver", path, strerror(-rc),
			nic->address);
	return rc == 0;
}

/* Whether there was one. */
static bool forget(const struct wh_machine *machine, const struct wh_nic *nic)
{
	char path[128];
	char whole[PATH_MAX];

	rule_path(nic, path);
	snprintf(whole, sizeof(whole), "%.3900s%s", machine->root, path);
	return unlink(whole) == 0;
}

static void tell(const struct wh_nic *nic, const char *driver)
{
	char path[128];

	rule_path(nic, path);
	printf("%s (%04x:%04x) has the driver %s, now and at each boot (%s)\n", nic->address,
		nic->vendor, nic->device, driver, path);
	if (nic->interface[0] != '\0')
		printf("the kernel's interface %s is gone, and what was configured for it has no "
		       "effect\n",
			nic->interface);
	if (strcmp(driver, "vfio-pci") != 0)
		printf("no IOMMU keeps it to its memory: only root can use it, as in sudo "
		       "wavehaul serve; for the service take port = af_packet:INTERFACE\n");
	printf("what remains: [port] port = %s in /etc/wavehaul/wavehaul.conf; `wavehaul doctor` "
	       "says whether anything else\n",
		nic->address);
}

bool wh_nic_hand_over(const struct wh_machine *machine, const struct wh_nic *nic)
{
	bool ready = nic->holder == WH_NIC_VFIO || nic->holder == WH_NIC_UIO;
	const char *driver = ready ? nic->driver : wh_nic_driver(machine, nic);

	if (!load(machine, driver) || !remember(machine, nic, driver))
		return false;

	int rc = ready ? 0 : change_driver(machine, nic, driver);

	if (rc == 0) {
		tell(nic, driver);
		return true;
	}
	forget(machine, nic);
	(void)change_driver(machine, nic, "\n");
	return wh_fail(false,
		"%s does not take %s (%s; `dmesg` may say why), and is the kernel's as before",
		driver, nic->address, strerror(-rc));
}

bool wh_nic_take_back(const struct wh_machine *machine, const struct wh_nic *nic)
{
	bool remembered = forget(machine, nic);
	int rc = nic->holder == WH_NIC_VFIO || nic->holder == WH_NIC_UIO
			 ? change_driver(machine, nic, "\n")
			 : 0;
	char driver[32];

	if (rc != 0)
		return wh_fail(false,
			"no driver of the kernel took %s (%s): load its module with modprobe",
			nic->address, strerror(-rc));
	driver_of(machine, nic, driver);
	printf("%s (%04x:%04x) is the kernel's, by %s%s\n", nic->address, nic->vendor, nic->device,
		driver[0] != '\0' ? driver : "no driver",
		remembered ? ", now and at each boot" : "");
	return true;
}
