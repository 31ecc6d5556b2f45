# SPDX-License-Identifier: MIT
# Quiet by default; V=1 shows the commands. SAN=1 builds with ASan and UBSan, CC=clang with clang.

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
V ?= 0
Q = $(if $(filter 1,$(V)),,@)
OPT ?= -O2
SAN ?= 0
CHECKS ?= $(if $(filter 1,$(SAN)),3,2)

VERSION := 0.1.0
GIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
B ?= build$(if $(filter clang,$(CC)),-clang)$(if $(filter 1,$(SAN)),-san)$(if $(filter-out -O2,$(OPT)),$(OPT))
PKGS := gsl yaml-0.1 libcjson sqlite3 zlib

WARN := -Wall -Wextra -Wshadow -Wconversion
CFLAGS_ALL = -std=c11 -D_POSIX_C_SOURCE=200809L $(WARN) -g $(OPT) -ffp-contract=off -Isim -I. \
	-DTANDEM_CHECKS=$(CHECKS) $(shell pkg-config --cflags $(PKGS)) $(SANFLAGS) $(CFLAGS)
ifeq ($(SAN),1)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
LIBS = $(shell pkg-config --libs $(PKGS)) -lm
LDFLAGS_ALL = $(SANFLAGS) -Wl,--export-dynamic $(LDFLAGS)

SRC := $(wildcard sim/*.c sim/*/*.c models/*/*.c traces/*.c)
OBJ := $(SRC:%.c=$(B)/%.o) $(B)/registry_table.o
TESTSRC := $(wildcard tests/unit/*.c tests/conformance/*.c tests/models/*.c tests/theory/*.c \
	tests/golden/*.c tests/reject/*.c)
TESTOBJ := $(TESTSRC:%.c=$(B)/%.o)
POLICIES := $(wildcard models/*/*.c)

.PHONY: all deps demo test bench check-layers format check-format lint cov install help clean \
	test-bin FORCE
all: $(B)/tandem

$(B)/tandem: $(OBJ)
	@echo "LD $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# Recorded in the build folder: a new revision rebuilds what carries it.
$(B)/git.stamp: FORCE
	@mkdir -p $(B)
	@echo '$(GIT)' | cmp -s - $@ || echo '$(GIT)' > $@
FORCE:

$(B)/sim/run.o: CFLAGS += -DTANDEM_GIT='"$(GIT)"'
$(B)/sim/run.o: $(B)/git.stamp
$(B)/sim/%.o $(B)/tests/%.o: CFLAGS += -DTANDEM_VERSION='"$(VERSION)"' -DTANDEM_SOURCE_DIR='"$(CURDIR)"'

$(B)/registry_table.c: $(POLICIES) sim/registry.sh | $(B)/
	$(Q)sh sim/registry.sh $@ models
$(B)/registry_table.o: $(B)/registry_table.c
	@echo "CC $@"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "CC $<"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/:
	@mkdir -p $@

-include $(OBJ:.o=.d) $(TESTOBJ:.o=.d)

# -- tests --
$(B)/tests/all: $(filter-out $(B)/sim/main.o,$(OBJ)) $(TESTOBJ)
	@echo "LD $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lcriterion
test-bin: $(B)/tests/all $(B)/tandem

clean:
	rm -rf build build-*
