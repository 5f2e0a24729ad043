// Glossary. A build makes an image out of a Dockerfile and its context, both taken from one commit as plain blobs. Its
// bases are the images that the Dockerfile names.

/** One file of a context. */
export type ContextFile = {
  /** Relative to the context, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'executable' | 'link';
  readonly bytes: number;
  /** Of its content: equal means the same. */
  readonly sha: string;
};

/** What a backend that has images is asked to build. */
export type ImageBuild = {
  readonly dockerfile: string;
  readonly target: string | null;
  readonly args: Readonly<Record<string, string>>;
  readonly files: readonly ContextFile[];
  /** The contents of `files`, in their order. */
  contents(): AsyncIterable<Uint8Array>;
  /** Whether its programs reach the network. */
  readonly network: boolean;
  /** Aborted when nobody waits for it any more: its programs end. */
  readonly signal: AbortSignal;
};
