import { setImmediate as nextTurn } from 'node:timers/promises'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { InvalidInput, type Issue, maxIssues, type RequestPart } from './errors.ts'
import { isUuid } from './id.ts'
import { visible } from './schema-types.ts'
import { isBlank } from './text/external-text.ts'

// Ajv's own sees a character without width as one.
const regExpOf = (pattern: string, flags: string) =>
  pattern === visible ? { test: (text: string) => !isBlank(text) } : new RegExp(pattern, flags)

const common = {
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  useDefaults: true,
  discriminator: true,
  // To compile takes a fifth less, and no check takes longer.
  code: { optimize: false, regExp: Object.assign(regExpOf, { code: 'regExpOf' }) },
} as const

// Coercion would turn a body's `null` into `0` and so break "clear by null"; a query has only text, so it needs it.
const bodyAjv = new Ajv({ ...common, coerceTypes: false })
const textAjv = new Ajv({ ...common, coerceTypes: true })
for (const ajv of [bodyAjv, textAjv]) {
  ajv.addFormat('uri', (text: string) => URL.canParse(text))
  // Ajv's own also takes `urn:uuid:…`, which the database refuses.
  ajv.addFormat('uuid', isUuid)
  // Instants are read by `readIsoTime`, which takes more of ISO 8601 than Ajv's own format does.
  ajv.addFormat('date-time', true)
  for (const keyword of ['example', 'x-published']) ajv.addKeyword(keyword)
}

type Compile = (schema: object) => ValidateFunction
const [compileBody, compileText] = [compilerOf(bodyAjv), compilerOf(textAjv)]

/** Schemas that say the same, as those of many paths do, have one check. */
function compilerOf(ajv: Ajv): Compile {
  const known = new Map<string, ValidateFunction>()
  return (schema) => {
    const said = JSON.stringify(schema)
    const validate = known.get(said) ?? ajv.compile(schema)
    known.set(said, validate)
    return validate
  }
}

/**
 * What Fastify calls for each schema of a route. The check is compiled when it is first needed, or by `compileRest`: a
 * start would wait for hundreds.
 */
export function compileForRequest(schema: object, part: string | undefined): RequestCheck {
  const isText = part !== undefined && part !== 'body'
  const compiled = compileOnce(isText ? compileText : compileBody, schema)
  const check: RequestCheck = (values) => {
    const validate = compiled()
    const fits = validate(values)
    // Ajv reads `1e999` as Infinity, and then lets it pass whatever minimum and maximum the schema sets.
    const infinite = fits && isText ? infiniteNumbers(values) : []
    check.errors = fits ? infinite : validate.errors
    return fits && infinite.length === 0
  }
  return check
}

/** Returns whether the values fit; `errors` says why the last ones did not. */
export interface RequestCheck {
  (values: unknown): boolean
  errors?: ErrorObject[] | null | undefined
}

const uncompiled = new Set<() => unknown>()

function compileOnce(compile: Compile, schema: object): () => ValidateFunction {
  let validate: ValidateFunction | undefined
  const compiled = () => {
    if (validate !== undefined) return validate
    uncompiled.delete(compiled)
    validate = compile(schema)
    return validate
  }
  uncompiled.add(compiled)
  return compiled
}

/** Compiles what nobody has needed yet, one after another beside other work, so that no request waits for it. */
export async function compileRest(): Promise<void> {
  for (const compiled of uncompiled) {
    compiled()
    await nextTurn()
  }
}

function infiniteNumbers(values: unknown): ErrorObject[] {
  return Object.entries(values ?? {})
    .filter(([, value]) => typeof value === 'number' && !Number.isFinite(value))
    .map(([name]) => ({ instancePath: `/${name}`, schemaPath: '', keyword: 'type', params: { type: 'finite number' } }))
}

/** A check of one value against a schema, for items that succeed or fail alone: its issues, or none. */
export function compileCheck(schema: object): (value: unknown, at: string) => Issue[] {
  const compiled = compileOnce(compileBody, schema)
  return (value, at) => {
    const validate = compiled()
    return validate(value) ? [] : issuesOf(validate.errors ?? [], at)
  }
}

export function invalidInput(errors: readonly ErrorObject[], part: RequestPart): InvalidInput {
  return new InvalidInput(issuesOf(errors), part)
}

export function issuesOf(errors: readonly ErrorObject[], at = ''): Issue[] {
  const issues = new Map<string, Issue>()
  for (const error of errors) {
    // A schema with one has a rule for the field that chooses, which says more.
    if (error.keyword === 'discriminator') continue
    if (error.keyword === 'maxLength' && hasNoForm(errors, error.instancePath)) continue
    const issue = { path: pathOf(error, at), message: messageOf(error) }
    issues.set(`${issue.path} ${issue.message}`, issue)
    if (issues.size === maxIssues) break
  }
  return [...issues.values()]
}

// What has another form altogether is not to be told of its length as well.
function hasNoForm(errors: readonly ErrorObject[], path: string): boolean {
  return errors.some(({ keyword, instancePath }) => instancePath === path && /^(format|pattern)$/.test(keyword))
}

function pathOf(error: ErrorObject, at: string): string {
  const steps = error.instancePath.split('/').slice(1).map(unescapePointer)
  if (error.keyword === 'required') steps.push(String(error.params.missingProperty))
  if (error.keyword === 'additionalProperties') steps.push(String(error.params.additionalProperty))
  return steps.reduce(joinPath, at)
}

/** `items`, then `3`, then `email` reads `items[3].email`. */
export function joinPath(path: string, step: string): string {
  if (/^\d+$/.test(step)) return `${path}[${step}]`
  const shown = step.length > 100 ? `${step.slice(0, 100)}…` : step
  return path === '' ? shown : `${path}.${shown}`
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function messageOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is not a known field'
    case 'enum':
      return `must be one of ${(error.params.allowedValues as unknown[]).join(', ')}`
    case 'type':
      return `must be ${[error.params.type].flat().join(' or ')}`
    case 'minProperties':
      return 'must name at least one field'
    case 'minLength':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} characters`
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`
    case 'maxItems':
      return `must have at most ${error.params.limit} items`
    case 'minimum':
      return `must be at least ${error.params.limit}`
    case 'maximum':
      return `must be at most ${error.params.limit}`
    case 'pattern':
      return error.params.pattern === visible ? 'must not be blank' : `must have the form ${error.params.pattern}`
    case 'format':
      return `must be a ${error.params.format === 'uuid' ? 'UUID' : error.params.format}`
    default:
      return error.message ?? 'is not valid'
  }
}
