import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, visiblePattern, wholeNumber } from '../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { checkNames } from './scenario/recorded-run.ts'
import { maxScenarioText, scenarioName } from './scenario/scenario-schema.ts'
import { maxRuns, resultVerdicts, runStatuses } from './store/runs.ts'
import { maxScenarios } from './store/scenarios.ts'

export const scenarioText = Type.String({
  minLength: 1,
  maxLength: maxScenarioText,
  pattern: visiblePattern,
  description: 'The scenario as JSON; its JSON Schema is `scenarioSchema` of the list.',
})

const verdict = oneOf(resultVerdicts, {
  title: 'ScenarioVerdict',
  description: '`error`: the script could not be played. `skipped`: the run ended before.',
})

export const ScenarioItem = titled('Scenario', {
  id: idSchema('The scenario.'),
  name: scenarioName,
  title: text(150, 'What happens, in a few words.'),
  tags: Type.Array(text(40, 'A topic.'), { maxItems: 10 }),
  text: scenarioText,
  version: count('Incremented by each change.', { example: 1 }),
  lastVerdict: nullable({ ...verdict, description: 'How it ended in its newest run; null: it never ran.' }),
  updatedAt: timestamp('Time of the last change.'),
})

export const ScenarioList = Type.Object({
  scenarios: Type.Array(ScenarioItem, { maxItems: maxScenarios }),
  hasSimulator: Type.Boolean({ description: 'Whether scenarios can run on this service.' }),
  hasJudge: Type.Boolean({ description: 'Whether a judge is configured.' }),
  publicUrl: text(2000, 'Address of this service, for the agent.'),
  scenarioSchema: Type.Unsafe<object>({ type: 'object', description: 'JSON Schema of scenarios.' }),
})

export const scenarioParams = Type.Object({ ...workspaceParams, scenarioId: idSchema('The scenario.') })
export const runParams = Type.Object({ ...workspaceParams, runId: idSchema('The run.') })

export const NewScenario = Type.Object({ text: scenarioText }, closed)
export const ScenarioChange = Type.Object(
  { text: scenarioText, version: count('The version that was changed.') },
  closed,
)

export const NewRunBody = Type.Object(
  {
    scenarioIds: Type.Optional(
      Type.Array(idSchema('A scenario.'), { minItems: 1, maxItems: maxScenarios, description: 'Stored scenarios.' }),
    ),
    scenarios: Type.Optional(
      Type.Array(scenarioText, { minItems: 1, maxItems: maxScenarios, description: 'Scenarios that are not stored.' }),
    ),
    agent: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: visiblePattern,
      description: 'Name of the agent. A run is compared with earlier ones of the same name.',
      example: 'support-agent',
    }),
    instructions: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4000,
        pattern: visiblePattern,
        description: 'Instructions in place of those of the scenarios.',
      }),
    ),
    webhookUrl: Type.Optional(
      Type.String({ format: 'uri', maxLength: 2000, description: 'Where the agent receives events of the inbox.' }),
    ),
    speed: Type.Optional(
      Type.Number({ minimum: 1, maximum: 100, description: 'Divides the pauses of scripts. Default: 1.' }),
    ),
    answerSeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 300, description: 'How long the agent may take to react. Default: 30.' }),
    ),
    parallel: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20, description: 'Conversations at a time. Default: 5.' }),
    ),
    connectSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 900,
        description: 'How long to wait until an agent has called with each key; 0: not at all. Default: 600.',
      }),
    ),
  },
  {
    ...closed,
    title: 'NewScenarioRun',
    example: { agent: 'support-agent', scenarioIds: ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'] },
  },
)
export type NewRunBody = Static<typeof NewRunBody>

export const StartedRunAnswer = titled('StartedScenarioRun', {
  runId: idSchema('The run.'),
  agents: Type.Array(
    titled('SandboxAgent', {
      key: text(40, 'Key of a sandbox. Start the agent once with each; shown only in this response.'),
      webhookSecret: nullable(text(200, 'Signs the webhooks of this sandbox.')),
      scenarios: Type.Array(scenarioName, { maxItems: maxScenarios, description: 'What it will be tried with.' }),
    }),
    { maxItems: 8 },
  ),
})

const runFields = {
  id: idSchema('The run.'),
  agent: text(100, 'Name of the agent.'),
  status: oneOf(runStatuses, {
    title: 'ScenarioRunStatus',
    description: '`waiting`: for the agent to connect. `interrupted`: the process ended, or the run failed.',
  }),
  hasInstructions: Type.Boolean({ description: 'Whether instructions replaced those of the scenarios.' }),
  counts: Type.Partial(
    Type.Object(Object.fromEntries(resultVerdicts.map((name) => [name, count('Number of scenarios.')]))),
  ),
  createdAt: timestamp('When it began.'),
  finishedAt: nullable(timestamp('When it ended; null: it goes on.')),
}

export const ScenarioRun = titled('ScenarioRun', runFields)
export const ScenarioRuns = Type.Object({ runs: Type.Array(ScenarioRun, { maxItems: maxRuns }) })

const Check = titled('ScenarioCheck', {
  check: oneOf(checkNames, { title: 'ScenarioCheckName', description: 'The expectation.' }),
  passed: Type.Boolean(),
  expected: text(400, 'What is expected.'),
  actual: text(400, 'What was found; empty: nothing.'),
})
const Line = titled('ScenarioEntry', {
  atMs: wholeNumber('Milliseconds since the beginning.'),
  from: oneOf(['customer', 'agent', 'team', 'system'] as const, { description: 'Who did it.' }),
  kind: oneOf(['message', 'note', 'handover', 'draft', 'change'] as const, { description: 'What it is.' }),
  text: text(20_000, 'What it says.'),
})
const Call = titled('ScenarioCall', {
  atMs: wholeNumber('Milliseconds since the beginning.'),
  tool: text(100, 'Name of the tool.'),
  input: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Arguments.' }),
  code: nullable(text(100, 'Error code; null: it succeeded.')),
})
const Change = titled('ScenarioDifference', {
  before: nullable(oneOf(['passed', 'failed', 'error'] as const, { description: 'Null: it did not run before.' })),
  broken: Type.Array(text(500, 'Expectation that was met before.'), { maxItems: 200 }),
  fixed: Type.Array(text(500, 'Expectation that was not met before.'), { maxItems: 200 }),
  lines: Type.Array(
    Type.Object({
      mark: oneOf(['+', '-', ' '] as const, { description: 'Added, removed or the same.' }),
      text: text(20_100, 'A line of the conversation.'),
    }),
    { maxItems: 1000, description: 'Empty: the conversation is the same.' },
  ),
})

export const RunDetail = Type.Object({
  run: ScenarioRun,
  results: Type.Array(
    titled('ScenarioResult', {
      name: scenarioName,
      verdict,
      ms: wholeNumber('How long it took.'),
      checks: Type.Array(Check, { maxItems: 200 }),
      entries: Type.Array(Line, { maxItems: 400, description: 'The conversation.' }),
      calls: Type.Array(Call, { maxItems: 400, description: 'What the agent called.' }),
      difference: nullable(Change),
    }),
    { maxItems: maxScenarios },
  ),
})
