# SPDX-License-Identifier: MIT
# `make help` lists the targets. Quiet by default; V=1 shows the commands.
#   CC=clang   the other compiler         SAN=1    with ASan and UBSan
#   OPT=-O0    optimisation               WERROR=1 warnings are errors
#   B=DIR      where everything is built: each compiler and variant has a folder of its own

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
V ?= 0
Q = $(if $(filter 1,$(V)),,@)
SAN ?= 0
WERROR ?= 0
# Events are 7 to 14 % cheaper with -O3 than with -O2. Link-time optimisation would take off 5 % more at
# most, for links of 7 to 40 seconds.
OPT_DEFAULT := $(if $(filter 1,$(SAN)),-O1,-O3)
OPT ?= $(OPT_DEFAULT)
CHECKS ?= $(if $(filter 1,$(SAN)),3,2)
PREFIX ?= /usr/local

VERSION := 0.1.0
GIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
empty :=
space := $(empty) $(empty)
B ?= build$(if $(filter clang%,$(CC)),-clang)$(if $(filter 1,$(SAN)),-san)$(subst \
	$(space),,$(filter-out $(OPT_DEFAULT),$(OPT)))
PKGS := gsl yaml-0.1 libcjson sqlite3 zlib

# pkg-config is one of the packages that `make deps` brings: it is asked when something is compiled, not
# when this file is read, and once only, because the answer replaces the question.
pkg = $(if $(filter MISSING,$(1)),$(error a library or pkg-config is missing ($(PKGS)): run 'make deps'),$(1))
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(call pkg,$(shell \
	pkg-config --cflags $(PKGS) 2>/dev/null || echo MISSING)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(call pkg,$(shell \
	pkg-config --libs $(PKGS) 2>/dev/null || echo MISSING)))$(PKG_LIBS)

# No contraction to fused multiply-add: results are the same bytes from every build.
WARN := -Wall -Wextra -Wshadow -Wconversion $(if $(filter 1,$(WERROR)),-Werror)
BASE_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -Isim -I. $(PKG_CFLAGS)
ifeq ($(SAN),1)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
# What decides about an object, warnings apart; $(DEFS) are the constants of single files.
BUILD_CFLAGS = $(BASE_CFLAGS) -g $(OPT) -DTANDEM_CHECKS=$(CHECKS) $(SANFLAGS) $(CFLAGS)
CFLAGS_ALL = $(WARN) $(BUILD_CFLAGS) $(DEFS)
LIBS = $(PKG_LIBS) -lm
# Policies that are loaded at run time use functions of the program.
LDFLAGS_ALL = $(SANFLAGS) -Wl,--export-dynamic $(LDFLAGS)

SRC := $(wildcard sim/*.c sim/*/*.c models/*/*.c traces/*.c)
OBJ := $(SRC:%.c=$(B)/%.o) $(B)/registry_table.o
LIBOBJ := $(filter-out $(B)/sim/main.o,$(OBJ))
POLICIES := $(wildcard models/*/*.c)

# Folders of tests; KINDS="unit models" builds and runs these only.
ALLKINDS := $(filter-out bench fuzz support,$(patsubst tests/%/,%,$(wildcard tests/*/)))
KINDS ?= $(ALLKINDS)
TESTSRC := $(wildcard $(KINDS:%=tests/%/*.c))
TESTOBJ := $(TESTSRC:%.c=$(B)/%.o)
TESTBIN := $(B)/tests/run-$(if $(filter-out $(KINDS),$(ALLKINDS)),$(subst $(space),-,$(strip $(KINDS))),all)
BENCHBIN := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(wildcard tests/bench/*.c))
FORMATTED = $(sort $(wildcard $(addsuffix /*.[ch],sim sim/* models/* traces tests/*)))

# Targets that start with installing what is missing, and so begin with another make, use all CPUs
# unless told otherwise.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))
SUBMAKE = $(MAKE) --no-print-directory $(JOBS)

.DELETE_ON_ERROR:
.PHONY: all deps deps-test demo smoke figures test test-bin bench bench-bin check-layers format check-format lint \
	cov fuzz fuzz-bin install help clean FORCE

all: $(B)/tandem ## build the program, build/tandem

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
	@echo "  variables: CC=clang SAN=1 OPT=-O0 WERROR=1 V=1 B=DIR; for test: T=PATTERN KINDS=\"unit ...\" SHORT=1; for smoke: QUICK=1"

# -- the program --
$(B)/tandem: $(OBJ)
	@echo "LD $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# A new revision or other flags rebuild what they are part of: the stamps keep their time otherwise.
$(B)/git.stamp: FORCE
	@mkdir -p $(@D)
	@echo '$(GIT)' | cmp -s - $@ || echo '$(GIT)' > $@
$(B)/flags.stamp: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(BUILD_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(BUILD_CFLAGS)' > $@
FORCE:

$(B)/sim/run.o: $(B)/git.stamp
$(B)/sim/run.o: DEFS += -DTANDEM_GIT='"$(GIT)"'
$(B)/sim/%.o $(B)/tests/%.o: DEFS += -DTANDEM_VERSION='"$(VERSION)"' -DTANDEM_SOURCE_DIR='"$(CURDIR)"'

# A policy is a file in models/: nobody lists it by hand.
$(B)/registry_table.c: $(POLICIES) sim/registry.sh
	@mkdir -p $(@D)
	$(Q)sh sim/registry.sh $@ models
$(B)/registry_table.o: $(B)/registry_table.c $(B)/flags.stamp
	@echo "CC $@"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	@echo "CC $<"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d) $(TESTOBJ:.o=.d) $(BENCHBIN:=.d)

# -- packages --
deps: ## install the Debian packages that the program and its demo need (root or sudo)
	@sh .ci/deps.sh build

deps-test: ## the same with the packages of the tests
	@sh .ci/deps.sh build test

# -- first look --
# A store that is older than the program or its inputs holds results of another time: it goes. One
# that was interrupted is carried on.
demo: deps ## sweep oversubscription over four policies, draw it, print the table
	@$(SUBMAKE) all
	@mkdir -p $(B)/demo
	@if [ -e $(B)/demo/demo.db ] && \
		[ -n "$$(find $(B)/tandem configs workloads traces/samples -newer $(B)/demo/demo.db)" ]; then \
		rm -f $(B)/demo/demo.db*; fi
	$(Q)$(B)/tandem sweep configs/demo.yaml -j 2 -o $(B)/demo/demo.db
	$(Q)for format in svg png; do \
		$(B)/tandem plot oversubscription $(B)/demo/demo.db -o $(B)/demo/oversubscription.$$format && \
		echo "$(B)/demo/oversubscription.$$format" || exit; done

# The published smoke tests. Quick is one run of each cell in full length, without intervals, and of hackbench,
# which takes nearly all of the time, less than half of the shapes: claims about it are incomplete. The table
# of the sweep is for a file, the scoreboard for the screen. Claims that fail are no failure of the target.
QUICK ?= 0
SMOKE := smoke-x86
SMOKEOUT = $(B)/smoke/$(SMOKE)$(if $(filter 1,$(QUICK)),-quick)
SMOKESWEEP = $(B)/tandem sweep configs/$(SMOKE).yaml -j 2 -o $(SMOKEOUT).db
SMOKEQUICK = $(SMOKESWEEP) --replications 1 --filter count=4 --filter count=8 && $(SMOKESWEEP) --replications 1 \
	--filter workload=pgbench --filter workload=schbench-nolock --filter workload=sysbench-cpu
smoke: deps ## sweep the published smoke tests, draw them, print the scoreboard; QUICK=1 in 5 minutes
	@$(SUBMAKE) all
	@mkdir -p $(B)/smoke
	@if [ -e $(SMOKEOUT).db ] && [ -n "$$(find $(B)/tandem configs/$(SMOKE).yaml configs/machines \
		workloads -newer $(SMOKEOUT).db)" ]; then rm -f $(SMOKEOUT).db*; fi
	$(Q){ $(if $(filter 1,$(QUICK)),$(SMOKEQUICK),$(SMOKESWEEP)); } > $(SMOKEOUT).txt
	$(Q)for figure in smoke smoke-scatter scoreboard; do for format in svg png; do \
		$(B)/tandem plot $$figure --facts $(SMOKE) $(SMOKEOUT).db -o $(SMOKEOUT)-$$figure.$$format && \
		echo "$(SMOKEOUT)-$$figure.$$format" || exit; done; done
	$(Q)$(B)/tandem validate --facts $(SMOKE) $(SMOKEOUT).db || \
		{ status=$$?; echo "exit status $$status"; [ $$status = 1 ]; }

# The figures that README.md shows, each FIGURE:SWEEP. They are committed: the same results give the same bytes. Stores
# that are older than the program go.
GALLERY := idle-slice-ratio:idle-slice-ratio cps-gain:cps-load-benchmarks
figures: deps ## sweep and draw the figures of README.md, plots/gallery/*.svg, in 4 minutes
	@$(SUBMAKE) all
	@mkdir -p $(B)/figures plots/gallery
	@find $(B)/figures -name '*.db*' ! -newer $(B)/tandem -delete
	$(Q)for item in $(GALLERY); do \
		figure=$${item%%:*}; sweep=$(B)/figures/$${item#*:}; picture=plots/gallery/$$figure.svg; \
		$(B)/tandem sweep configs/$${item#*:}.yaml -j 2 -o $$sweep.db > $$sweep.txt && \
		$(B)/tandem plot $$figure $$sweep.db -o $$picture && echo "$$picture" || exit; done
	$(Q)TANDEM=$(B)/tandem sh configs/figures/gantt-barrier.sh && echo plots/gallery/gantt-barrier.svg

# -- tests --
$(TESTBIN): $(LIBOBJ) $(TESTOBJ)
	@mkdir -p $(@D)
	@echo "LD $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS) -lcriterion
test-bin: $(TESTBIN) $(B)/tandem

test: deps-test ## build and run the tests; T='theory/*' picks, SHORT=1 leaves out the long ones
	@$(SUBMAKE) test-bin
	@T='$(T)' SAN='$(SAN)' $(if $(filter 1,$(SHORT)),TANDEM_SHORT=1) \
		bash .ci/test.sh $(B) $(TESTBIN) $(KINDS)

$(BENCHBIN): $(B)/tests/bench/%: tests/bench/%.c $(LIBOBJ)
	@mkdir -p $(@D)
	@echo "LD $@"
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -MT $@ $(LDFLAGS_ALL) -o $@ $< $(LIBOBJ) $(LIBS)
bench-bin: $(BENCHBIN)

bench: deps ## cost per event of the queue and of whole simulations, per run of a sweep, and memory
	@$(SUBMAKE) bench-bin
	@sh tests/bench/table.sh $(B)/tests/bench

# Random bytes from a fixed seed, so that a second run tries the same ones; FUZZ=1000000 for longer.
FUZZ ?= 20000
FUZZSAN := address,undefined -fno-sanitize-recover=all
FUZZBIN := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/*.c))
$(FUZZBIN): $(B)/tests/fuzz/%: tests/fuzz/%.c $(LIBOBJ)
	@mkdir -p $(@D)
	@echo "LD $@"
	$(Q)$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer $(LDFLAGS_ALL) -o $@ $< $(LIBOBJ) $(LIBS)
fuzz-bin: $(FUZZBIN)

fuzz: deps-test ## damaged scenarios and traces through the readers, by libFuzzer
	@$(SUBMAKE) fuzz-bin B=build-fuzz CC=clang OPT=-O1 SAN=0 CHECKS=3 \
		CFLAGS='-fsanitize=fuzzer-no-link,$(FUZZSAN)' LDFLAGS='-fsanitize=$(FUZZSAN)'
	@bash .ci/fuzz.sh build-fuzz $(FUZZ)

# -- checks --
check-layers: ## who includes, calls and names whom; the check itself is tried, too
	@CC='$(CC)' CFLAGS='$(WARN) -Werror $(BASE_CFLAGS)' bash tests/layers.sh --self-test
	@CC='$(CC)' CFLAGS='$(WARN) -Werror $(BASE_CFLAGS)' bash tests/layers.sh

format: deps-test ## format all C files
	$(Q)clang-format -i $(FORMATTED)

check-format: deps-test ## fail where `make format` would change something
	$(Q)clang-format --dry-run -Werror $(FORMATTED)

# Three checks are off because this version is wrong about every place that it finds: an address taken
# is taken for a value read (uninitvar) or a value kept (returnDanglingLifetime), and the index of a list
# that ends in a sentinel for one out of bounds.
lint: ## static analysis by cppcheck
	@sh .ci/deps.sh build lint
	$(Q)cppcheck -q -j2 --std=c11 --enable=warning,performance,portability --error-exitcode=1 \
		--inline-suppr --suppress=uninitvar --suppress=returnDanglingLifetime \
		--suppress=arrayIndexThenCheck -D_POSIX_C_SOURCE=200809L -Isim -I. sim models traces

# Counts are added up in files by every process that ends. cli/badinput limits the size of files, and
# would leave torn ones.
cov: deps-test ## line coverage by the tests, the long ones left out
	@mkdir -p build-cov && find build-cov -name '*.gcda' -delete
	@$(MAKE) --no-print-directory test B=build-cov OPT=-O1 SHORT=1 CC=gcc SAN=0 CFLAGS=--coverage \
		LDFLAGS=--coverage T='!(cli/badinput)'
	$(Q)gcovr --root . --object-directory build-cov --exclude tests/ --sort-percentage \
		--gcov-ignore-parse-errors

# -- installation --
# An installed program finds its files below PREFIX: the sources that know the place are compiled anew.
SHARE = $(PREFIX)/share/tandem
PLACED := $(shell grep -l TANDEM_SOURCE_DIR sim/*.c sim/*/*.c)
PLACEDOBJ := $(PLACED:%.c=$(B)/install/%.o)
$(PLACEDOBJ): $(B)/install/%.o: %.c FORCE
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -DTANDEM_SOURCE_DIR='"$(SHARE)"' -c -o $@ $<
$(B)/install/tandem: $(filter-out $(PLACED:%.c=$(B)/%.o),$(OBJ)) $(PLACEDOBJ)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# The headers are there for policies that are built outside of this tree, with pkg-config to find them.
HEADERS := $(wildcard sim/*/*.h)
$(B)/install/tandem.pc: FORCE
	@mkdir -p $(@D)
	@printf 'prefix=%s\nincludedir=$${prefix}/include/tandem\n\nName: tandem\nDescription: %s\nVersion: %s\nRequires: gsl\nCflags: %s\n' \
		'$(PREFIX)' 'headers for scheduling policies of Tandem' '$(VERSION)' '-I$${includedir}' > $@

install: $(B)/install/tandem $(B)/install/tandem.pc ## install below PREFIX (default /usr/local), staged in DESTDIR
	$(Q)install -D -m 755 $< '$(DESTDIR)$(PREFIX)/bin/tandem'
	$(Q)install -D -m 644 $(B)/install/tandem.pc '$(DESTDIR)$(PREFIX)/share/pkgconfig/tandem.pc'
	$(Q)for header in $(HEADERS:sim/%=%); do \
		install -D -m 644 sim/$$header '$(DESTDIR)$(PREFIX)/include/tandem'/$$header || exit; done
	$(Q)for page in README.md sim/study/COMPARE.md models/OUT-OF-TREE.md; do \
		install -D -m 644 $$page '$(DESTDIR)$(PREFIX)/share/doc/tandem'/$$(basename $$page) || exit; done
	$(Q)$< help --man > $(B)/install/tandem.1
	$(Q)$< help --completion bash > $(B)/install/tandem.bash
	$(Q)$< help --completion zsh > $(B)/install/_tandem
	$(Q)install -D -m 644 $(B)/install/tandem.1 '$(DESTDIR)$(PREFIX)/share/man/man1/tandem.1'
	$(Q)install -D -m 644 $(B)/install/tandem.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/tandem'
	$(Q)install -D -m 644 $(B)/install/_tandem '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tandem'
	$(Q)for file in $(wildcard configs/*.yaml configs/*/*.yaml configs/*/*.csv configs/ci-example/* workloads/*.yaml \
		plots/*.gp traces/samples/*); do \
		install -D -m $$([ -x $$file ] && echo 755 || echo 644) $$file '$(DESTDIR)$(SHARE)'/$$file || exit; done

clean: ## remove everything that was built
	rm -rf build build-*
