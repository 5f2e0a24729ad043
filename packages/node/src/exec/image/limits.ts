// Limits of images that are built from a repository, each with its reason.

/** Files of a build's context together: they are read out of Git and sent to the engine. */
export const CONTEXT_BYTES = 256 * 1024 * 1024;
/** One of them: it is held in memory while it is sent. */
export const CONTEXT_FILE_BYTES = 64 * 1024 * 1024;
/** How many: their list is held in memory. */
export const CONTEXT_FILES = 50_000;
/** A whole build: installing a toolchain over a slow line, not a night. */
export const BUILD_MS = 30 * 60_000;
/** Memory of one step of a build, without swap: a linker of a large program fits. */
export const BUILD_MEMORY_BYTES = 4 * 1024 ** 3;
/** Processors of one step: the tasks that run meanwhile keep theirs on most machines. */
export const BUILD_CPUS = 2;
/** How often the disk and the processes of a build are measured: between two looks a fast disk takes a few gigabytes. */
export const BUILD_WATCH_MS = 2_000;
/** What a build may print: beyond, it is one that never ends. */
export const BUILD_OUTPUT_BYTES = 64 * 1024 * 1024;
/** An image that a build made: a browser and three toolchains fit; beyond, it fills disks. */
export const BUILT_IMAGE_BYTES = 16 * 1024 ** 3;
/** What of a build's output an error carries. */
export const BUILD_TAIL_LINES = 20;
