import { z } from 'zod';
import { imageName, memoryKind } from '@orrery/protocol';
import { ASIDE_DAYS, CONVERSATION_DAYS, SESSION_ANSWER_SECONDS } from '../kernel/limits.ts';
import { MODEL_QUIET_MS } from '../kernel/model-limits.ts';
import { codehosts } from './codehost-schema.ts';
import { egressRuleForm, isEgressRule } from './egress-cover.ts';
import { logins } from './login-schema.ts';
import { mcpServers } from './mcp-schema.ts';

// The node's own file. Each key here is honoured by the code of this version; a key that is not is refused.

const backendName = z.string().min(1).max(100);
const rule = z.string().max(300).refine(isEgressRule, egressRuleForm);

/** How long each part of an attempt may take and how large it may grow. The operator's values are both default and ceiling. */
const limits = z.strictObject({
  wallMs: z
    .int()
    .min(1_000)
    .default(4 * 3_600_000)
    .describe('The whole attempt, milliseconds'),
  hookMs: z
    .int()
    .min(1_000)
    .default(15 * 60_000)
    .describe('Each hook, milliseconds'),
  turnMs: z
    .int()
    .min(1_000)
    .default(60 * 60_000)
    .describe('One turn of the agent, milliseconds'),
  cpuSeconds: z.int().min(1).nullable().default(null).describe('Processor time of a run; null: no limit'),
  memoryBytes: z.int().min(1_048_576).nullable().default(null).describe('Memory of a run; null: no limit'),
  processes: z.int().min(1).nullable().default(null).describe('Processes of a run; null: no limit'),
  outputBytes: z
    .int()
    .min(1_024)
    .default(1024 * 1024 * 1024)
    .describe('Output of a run that is kept'),
  diskBytes: z
    .int()
    .min(1_048_576)
    .nullable()
    .default(null)
    .describe('Disk of checkout and home together; null: no limit. Measured at intervals'),
});

const provider = z.strictObject({
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where the API is; needed for a provider that Orrery does not know'),
  socket: z.string().startsWith('/').max(107).optional().describe('Unix socket of a provider on this machine'),
  keyStyle: z.enum(['x-api-key', 'bearer', 'x-goog-api-key', 'none']).optional().describe('How the key is sent'),
  apiKey: z
    .string()
    .regex(
      /^secret:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      'must be secret:<name>; keys stand in the secrets store (orrery secret set), never here',
    )
    .optional()
    .describe('secret:<name> of the key; default: the secret with the name of the provider'),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().max(1_000))
    .optional()
    .describe('Further headers; no secrets'),
});

/** A program of the operator's own (docs/guides/harnesses.md). */
const turnProgram = z
  .strictObject({
    command: z.array(z.string().min(1).max(4_096)).min(1).max(100).describe('Program and arguments, run in the environment'),
    speaks: z
      .enum(['turn', 'acp'])
      .default('turn')
      .describe('turn: it is started for each turn, by the protocol of turn programs; acp: the Agent Client Protocol'),
    modes: z
      .strictObject({
        ask: z.string().min(1).max(200).optional().describe('acp: its own name of the mode in which it asks'),
        plan: z.string().min(1).max(200).optional().describe('acp: its own name of the mode in which it plans'),
      })
      .default({}),
    description: z.string().max(200).default('').describe('What it is, for people'),
    callsModel: z.boolean().default(true).describe('Whether it calls a model through the gateway'),
    model: z
      .string()
      .regex(/^[^/\s]+\/\S+$/, 'must be provider/model')
      .max(300)
      .nullable()
      .default(null)
      .describe('Model of tasks that name none, as provider/model'),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(10_000))
      .default({})
      .describe('Variables; no secrets'),
    egress: z.array(rule).max(100).default([]).describe('Hosts that its tasks may reach beside what they ask for'),
    files: z.array(z.string().startsWith('/').max(4_096)).max(100).default([]).describe('Files and folders that it lives in'),
  })
  .refine(({ speaks, callsModel, model }) => speaks === 'acp' || !callsModel || model !== null, {
    message: 'a program that calls a model needs one (model: provider/model), or callsModel: false',
    path: ['model'],
  });

/** What an operator declares of a program. */
export type DeclaredHarness = z.output<typeof turnProgram>;

/** Days that records of processes and questions of sessions are kept after their end. */
const SESSION_DAYS = 30;

/** The schema of `config.yaml`. Reading `{}` gives every default. */
export const nodeSchema = z.strictObject({
  name: z.string().min(1).max(100).default('orrery').describe('What the node calls itself'),
  listen: z
    .strictObject({
      host: z
        .string()
        .min(1)
        .max(255)
        .default('127.0.0.1')
        .describe('Address of the API; others than loopback need --insecure-bind'),
      port: z
        .int()
        .min(0)
        .max(65_535)
        .default(4747)
        .describe('Port of the API; 0: a free one, as when nobody set it and 4747 is taken'),
      previewPort: z
        .int()
        .min(0)
        .max(65_535)
        .default(4748)
        .describe(
          'Port of previews, on loopback, from the first one on; a free one for 0, and when nobody set it and it is taken',
        ),
    })
    .prefault({}),
  data: z.string().min(1).max(4_096).nullable().default(null).describe('Data directory; null: below XDG_DATA_HOME'),
  harness: z.string().min(1).max(100).default('claude').describe('Agent program of tasks that name none'),
  harnesses: z
    .record(z.string().regex(/^[a-z0-9-]{1,32}$/, 'lower case letters, digits and -, at most 32'), turnProgram)
    .default({})
    .describe('Agent programs of your own, by name'),
  execution: z
    .strictObject({
      backend: backendName.default('sandbox').describe('Where tasks run that name nothing else'),
      options: z
        .record(backendName, z.record(z.string(), z.unknown()))
        .default({})
        .describe('Options of each backend, by its name'),
      allowedBackends: z
        .array(backendName)
        .min(1)
        .nullable()
        .default(null)
        .describe('Backends that may be used at all; null: every one by request, the default one by project files'),
      trustedProjects: z
        .array(z.string().min(1).max(200))
        .max(10_000)
        .default([])
        .describe('Projects, by name or id, whose own plugins and hooks agent programs may run without asking'),
      allowedImages: z
        .array(z.string().min(1).max(500))
        .max(1_000)
        .default([])
        .describe(
          'Images that tasks and project files may ask for, and base images of what they build: whole names, or a beginning and a star',
        ),
      projectImages: z
        .record(z.string().min(1).max(200), imageName)
        .default({})
        .describe('Images of projects, by name or id: what their files say of images counts no more'),
      allowBuild: z
        .boolean()
        .default(false)
        .describe('Whether images are built from Dockerfiles of repositories; they begin with one of allowedImages'),
      buildNetwork: z.boolean().default(false).describe('Whether programs of such builds reach the network'),
    })
    .prefault({}),
  queue: z
    .strictObject({
      parallel: z.int().min(1).max(1_000).default(4).describe('Tasks at once'),
      perProject: z.int().min(1).max(1_000).default(2).describe('Tasks of one project at once'),
      resumeAfterRestart: z.boolean().default(true).describe('Whether the queue goes on by itself after a start'),
    })
    .prefault({}),
  memory: z
    .array(memoryKind)
    .max(3)
    .default([])
    .describe('Memories that tasks get (global, project, agent): folders of notes that outlive them'),
  limits: limits.prefault({}),
  sessions: z
    .strictObject({
      budgetUsd: z
        .number()
        .min(0)
        .nullable()
        .default(null)
        .describe('Most that the model calls of a session cost, unless it says otherwise'),
      maxTurns: z
        .int()
        .min(1)
        .max(1_000_000)
        .nullable()
        .default(null)
        .describe('Most turns of a session, unless it says otherwise'),
      answerSeconds: z
        .int()
        .min(1)
        .max(31_536_000)
        .nullable()
        .default(SESSION_ANSWER_SECONDS)
        .describe('Seconds after which what an agent asks counts as not answered, and does not happen; null: it waits for ever'),
      titleModel: z
        .string()
        .regex(/^[^/\s]+\/\S+$/, 'must be provider/model')
        .max(300)
        .nullable()
        .default(null)
        .describe(
          'Model that is asked once what a session is about, with its first input, as provider/model; null: its first words',
        ),
    })
    .prefault({}),
  providers: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'lower case letters, digits and . _ -'), provider)
    .default({})
    .describe('Model providers, by name'),
  logins,
  gateway: z
    .strictObject({
      quietMs: z
        .int()
        .min(1_000)
        .max(3_600_000)
        .default(MODEL_QUIET_MS)
        .describe('How long a model may be silent inside one answer, milliseconds; then the call has failed'),
    })
    .prefault({}),
  codehosts,
  mcp: mcpServers,
  egress: z
    .strictObject({
      allow: z.array(rule).max(1_000).default([]).describe('Hosts that projects and tasks may ask for'),
      deny: z.array(rule).max(1_000).default([]).describe('Hosts that nobody reaches, whatever is allowed'),
    })
    .prefault({}),
  retention: z
    .strictObject({
      asideDays: z.int().min(1).max(36_500).default(ASIDE_DAYS).describe('Days that ignored files moved aside are kept'),
      environmentDays: z
        .int()
        .min(1)
        .max(36_500)
        .nullable()
        .default(null)
        .describe(
          'Days after which a stopped environment that nobody used goes by itself, unless it holds unsaved work; null: only when env prune is told',
        ),
      conversationDays: z
        .int()
        .min(1)
        .max(36_500)
        .default(CONVERSATION_DAYS)
        .describe('Days that the conversation of a task is kept, so that another task can continue it'),
      sessionDays: z
        .int()
        .min(1)
        .max(36_500)
        .default(SESSION_DAYS)
        .describe('Days that records of what ran and was asked in sessions are kept after its end; log and inputs stay'),
    })
    .prefault({}),
  prices: z
    .string()
    .min(1)
    .max(4_096)
    .nullable()
    .default(null)
    .describe('File of model prices; null: prices.yaml beside this file when there is one'),
});

/** What the operator decided, every key with a value. */
export type NodeConfig = z.output<typeof nodeSchema>;

/** Keys whose change takes effect at the next start; every other holds for what begins after it. */
export const restartKeys: readonly string[] = ['listen.host', 'listen.port', 'listen.previewPort', 'data', 'prices', 'harnesses'];
