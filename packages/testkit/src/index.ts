export {
  commitAll,
  gitIn,
  gitShapes,
  largeRepository,
  plainRepository,
  writeFiles,
  type Shape,
  type ShapeName,
} from './git-shapes.ts';
export { gitTricks, trickWorked, type GitTrick, type GitTrickName } from './git-tricks.ts';
export {
  startTestEngine,
  testEngineKind,
  whyNoEngine,
  type EngineAnswer,
  type TestEngine,
  type TestEngineKind,
} from './container-engine.ts';
export { startCodeHost, type CodeHostFault, type TestCodeHost } from './code-host.ts';
export { startLoginIssuer, type TestLoginIssuer } from './login-issuer.ts';
export { startLfsServer, type LfsFault, type LfsServer } from './lfs-server.ts';
export { importSmallImage, saveSmallImage } from './small-image.ts';
export { deltaBomb, fileBomb, treeBomb } from './git-bombs.ts';
