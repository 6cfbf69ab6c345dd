import { InvalidInput, type Issue } from '../../base/errors.ts'
import { compileCheck } from '../../base/validation.ts'
import {
  handoverSchema,
  maxScenarioText,
  type SandboxSettings,
  type Scenario,
  type Step,
  scenarioSchema,
  stepKinds,
} from './scenario-schema.ts'

const checkScenario = compileCheck(scenarioSchema)
const checkHandover = compileCheck(handoverSchema)
const checkText = compileCheck({ type: 'string', minLength: 1, maxLength: 4096 })
// One check per kind: a union would report the errors of all its members.
const stepChecks = new Map(Object.entries(stepKinds).map(([kind, schema]) => [kind, compileCheck(schema)]))

/** Parses the text of a scenario. Throws `InvalidInput` with the path of each wrong field below `at`. */
export function parseScenario(text: string, at = ''): Scenario {
  if (text.length > maxScenarioText) {
    throw new InvalidInput([{ path: at, message: `must have at most ${maxScenarioText} characters` }])
  }
  const scenario = parseJson(text, at)
  const issues = checkScenario(scenario, at)
  if (issues.length > 0) throw new InvalidInput(issues)
  const known = scenario as Scenario
  const further = [...issuesOfSteps(known.script, pathIn(at, 'script')), ...issuesOfStart(known, at)]
  if (further.length > 0) throw new InvalidInput(further)
  return known
}

const pathIn = (at: string, field: string): string => (at === '' ? field : `${at}.${field}`)

function parseJson(text: string, at: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const position = /position (\d{1,6})/.exec(error instanceof Error ? error.message : '')?.[1]
    const place = position === undefined ? '' : ` (line ${text.slice(0, Number(position)).split('\n').length})`
    throw new InvalidInput([{ path: at, message: `must be JSON${place}` }], 'body', error)
  }
}

function issuesOfSteps(script: readonly Step[], at: string): Issue[] {
  return script.flatMap((step: unknown, n) => {
    const path = `${at}[${n}]`
    if (typeof step === 'string') return checkText(step, path)
    const kind =
      typeof step === 'object' && step !== null ? [...stepChecks.keys()].find((name) => name in step) : undefined
    const check = kind === undefined ? undefined : stepChecks.get(kind)
    if (check !== undefined) return check(step, path)
    const kinds = [...stepChecks.keys()].join(', ')
    return [{ path, message: `must be a text or an object with one of ${kinds}` }]
  })
}

function issuesOfStart({ start = {}, expect }: Scenario, at: string): Issue[] {
  const issues: Issue[] = []
  for (const [n, line] of (start.history ?? []).entries()) {
    const [[from = '', said] = [], ...others] = Object.entries(line)
    if (['customer', 'team'].includes(from) && others.length === 0 && checkText(said, '').length === 0) continue
    const message = 'must be {"customer": "…"} or {"team": "…"}'
    issues.push({ path: `${pathIn(at, 'start.history')}[${n}]`, message })
  }
  if (start.handBack !== undefined && start.history === undefined) {
    issues.push({ path: pathIn(at, 'start.handBack'), message: 'needs start.history' })
  }
  const { handedOver } = expect
  if (handedOver !== undefined && typeof handedOver !== 'boolean') {
    issues.push(...checkHandover(handedOver, pathIn(at, 'expect.handedOver')))
  }
  return issues
}

/** Returns what identifies the sandbox that a scenario needs: scenarios with the same share one. */
export function sandboxKeyOf({ name, sandbox = {} }: Scenario): string {
  const sorted = Object.entries(sandbox satisfies SandboxSettings).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(sandbox.own === true ? [sorted, name] : sorted)
}
