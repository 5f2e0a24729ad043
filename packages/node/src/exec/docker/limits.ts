// Limits of the backend docker, each with its reason.

/** What the engine answers at once: looking, listing, creating. A minute is far more than a busy one takes. */
export const ENGINE_CALL_MS = 60_000;
/** Removing a container ends its programs and deletes its files: slow on a full or a slow disk. */
export const ENGINE_REMOVE_MS = 5 * 60_000;
/** Pulling an image over a slow line. */
export const PULL_MS = 60 * 60_000;
/** What is kept of a command's errors for explanations. */
export const STDERR_TAIL_BYTES = 8 * 1024;
/** How long the engine may need to notice that a command whose streams are closed has ended. */
export const EXIT_KNOWN_MS = 30_000;
/** How long another request of this node may take to make a container whose name it has. */
export const NAME_TAKEN_MS = 30_000;
/** How often the engine is asked in such a time. */
export const ASK_AGAIN_MS = 20;
/** Processes of a container when nobody said otherwise: enough for a large build, no fork bomb of the machine. */
export const CONTAINER_PROCESSES = 4096;
/** Processes of a container beside the programs: the first one, keepers, commands of the node. */
export const OWN_PROCESSES = 64;
/** Shared memory: the engine's usual 64 MB break browsers. */
export const SHARED_MEMORY_BYTES = 1024 ** 3;
/** The smallest memory a container can be given: below, engines refuse or nothing starts. */
export const LEAST_MEMORY_BYTES = 16 * 1024 * 1024;
/** How long what carries a program into an engine may live when the node that made it does not end it. */
export const CARRIER_SECONDS = 3600;
