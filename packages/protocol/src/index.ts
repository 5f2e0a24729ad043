export { apiVersion, envelopeVersion, version } from './version.ts';
export {
  closest,
  errorCatalogue,
  fromErrorBody,
  OrreryError,
  toOrreryError,
  type ErrorBody,
  type ErrorCode,
  type ErrorKind,
  type ErrorParts,
} from './errors.ts';
export {
  pullRequest,
  type PullRequest,
  type PullRequestOpen,
  type PullRequestMerged,
  type PullRequestOpened,
  type PullRequestStanding,
  type MergeMethod,
  type PullRequestOutlook,
  type PullRequestState,
} from './pull-request.ts';
export { idPrefixes, isId, makeId, type IdKind } from './ids.ts';
export { durationMs, imageName, instant, pageOf, pageQuery, requestId, safeName, usd } from './scalars.ts';
export { modelUsage, usageTotals, type ModelUsage, type UsageTotals } from './usage.ts';
export {
  attempt,
  failureCause,
  memoryKind,
  stage,
  stageName,
  task,
  taskApplied,
  taskApply,
  taskCreate,
  taskDiff,
  taskLimits,
  taskOrigin,
  taskResult,
  taskState,
  taskStates,
  validationOutcome,
  verdict,
  type Attempt,
  type MemoryKind,
  type Stage,
  type StageName,
  type Task,
  type TaskApplied,
  type TaskCreate,
  type TaskDiff,
  type TaskIntent,
  type TaskLimits,
  type TaskResult,
  type TaskState,
  type Verdict,
} from './task.ts';
export {
  changedFile,
  changeSet,
  fileChange,
  hunk,
  leftOut,
  sessionChangeSet,
  type ChangedFile,
  type ChangeSet,
  type FileChange,
  type Hunk,
  type LeftOut,
  type SessionChangeSet,
} from './change.ts';
export { contextUse, planEntry, workState, type ContextUse, type PlanEntry, type ToolPicture } from './content.ts';
export {
  conversationBody,
  event,
  eventBody,
  nodeBody,
  sessionBody,
  taskBody,
  type ConversationBody,
  type EventBody,
  type NodeBody,
  type OrreryEvent,
  type SessionBody,
  type TaskBody,
} from './event.ts';
export { policyVerdict, type PolicyNote, type PolicyVerdict } from './policy-note.ts';
export {
  policyKind,
  type PolicyFileView,
  type PolicyKind,
  type PolicyListed,
  type PolicyProposal,
  type PolicyQuestion,
  type PolicyRuleView,
  type PolicyTested,
} from './policy.ts';
export {
  interactionAnswer,
  interactionAsk,
  interactionOutcome,
  interactionView,
  type InteractionAnswer,
  type InteractionAsk,
  type InteractionOutcome,
  type InteractionView,
} from './interaction.ts';
export { permissionMode, unattended, type PermissionMode, type Unattended } from './permission.ts';
export { answersGiven, wrongAnswers, type Answers, type AnswerValue, type Question } from './question.ts';
export { attachedTools, TOOL_DIFF_CHARS, type AttachedTool, type ToolInput } from './attached-tools.ts';
export { type AttachedCreate, type AttachedView } from './attached.ts';
export {
  sessionCreate,
  sessionState,
  turnFailure,
  sessionView,
  reportedCatalogue,
  turnAction,
  turnCreate,
  turnView,
  type SessionCreate,
  type SessionState,
  type SessionView,
  type ReportedCatalogue,
  type TurnAction,
  type TurnCreate,
  type TurnState,
  type TurnView,
} from './session.ts';
export {
  detailPage,
  liveKind,
  liveText,
  searchHit,
  transcriptPage,
  transcriptRow,
  type DetailPage,
  type LiveKind,
  type LiveText,
  type SearchHit,
  type TranscriptPage,
  type TranscriptRow,
} from './transcript.ts';
export { agentName, agentRef, agentSource, type AgentRef, type AgentSource } from './agent-ref.ts';
export { agentTools, agentView, skillName, type AgentTools, type AgentView } from './agent.ts';
export {
  type CheckpointView,
  type SessionFork,
  type SessionHandOver,
  type SessionRewind,
  type SessionRewound,
} from './session-history.ts';
export { isUndone, undoneRanges, type UndoneRange } from './undone.ts';
export { type EgressView } from './egress.ts';
export {
  environmentCreate,
  environmentOperation,
  environmentSetup,
  environmentState,
  environmentView,
  type EnvironmentCreate,
  type EnvironmentFork,
  type EnvironmentOperation,
  type EnvironmentApplied,
  type EnvironmentPruned,
  type EnvironmentSetup,
  type EnvironmentState,
  type EnvironmentView,
} from './environment.ts';
export { harnessLoginView, LOGIN_TOKEN_CHARS, type HarnessLoginView, type PaidBy } from './program-login.ts';
export { harnessTurnLine, harnessTurnPart, harnessTurnSpec, type HarnessTurnSpec } from './harness-turn.ts';
export { project, projectAdd, projectSet, type Project } from './project.ts';
export {
  backendView,
  capabilities,
  configExplained,
  configListed,
  type ConfigExplained,
  doctorLine,
  doctorReport,
  harnessInstalled,
  harnessView,
  nodeFacts,
  type BackendView,
  type DoctorReport,
  type HarnessView,
  type NodeFacts,
  type NodePruned,
} from './node.ts';
export { includesScope, scope, scopes, tokenCreate, tokenCreated, tokenView, type Scope, type TokenView } from './token.ts';
export { type PreviewLink } from './preview.ts';
export { auditRecord, type AuditView } from './audit.ts';
export { salvage, salvageRestore, salvageRestored, type Salvage } from './salvage.ts';
export { type Operation } from './operation.ts';
export {
  operations,
  type AnswerOf,
  type BodyOf,
  type Caller,
  type OperationCall,
  type OperationHandlers,
  type OperationName,
  type ParamsOf,
  type QueryOf,
} from './http.ts';
export { terminalSmallest, viewerFrame, type TerminalFrame, type TerminalView } from './terminal.ts';
export { streamHello, streamPaths, upgradePaths, upgradeProtocols } from './streams.ts';
export {
  attachmentFacts,
  attachmentPart,
  attachmentView,
  type AttachmentFacts,
  type AttachmentPart,
  type AttachmentView,
} from './attachment.ts';
export { bytes } from './operation.ts';
export { pushCreate, pushView, type PushCreate, type PushView } from './push.ts';
