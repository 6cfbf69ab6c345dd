import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { InvalidInput, type Issue, maxIssues, type RequestPart } from './errors.ts'
import { isUuid } from './id.ts'
import { makeLater } from './load-later.ts'
import { visiblePattern } from './schema-types.ts'
import { isBlank } from './text/external-text.ts'

// Ajv counts a zero-width character as visible.
const createPatternTest = (pattern: string, flags: string) =>
  pattern === visiblePattern ? { test: (text: string) => !isBlank(text) } : new RegExp(pattern, flags)

const common = {
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  useDefaults: true,
  discriminator: true,
  // Compiles a fifth faster without optimization, and checks are no slower.
  code: { optimize: false, regExp: Object.assign(createPatternTest, { code: 'regExpOf' }) },
} as const

// Coercion would turn `null` in a body into `0` and break clearing by null; a query has only text and needs it.
const bodyAjv = new Ajv({ ...common, coerceTypes: false })
const textAjv = new Ajv({ ...common, coerceTypes: true })
for (const ajv of [bodyAjv, textAjv]) {
  ajv.addFormat('uri', (text: string) => URL.canParse(text))
  // Ajv's own format also accepts `urn:uuid:…`, which the database refuses.
  ajv.addFormat('uuid', isUuid)
  // `parseIsoTime` parses times and accepts more of ISO 8601 than Ajv's format.
  ajv.addFormat('date-time', true)
  for (const keyword of ['example', 'x-published']) ajv.addKeyword(keyword)
}

type Compile = (schema: object) => ValidateFunction
const [compileBody, compileText] = [createCompiler(bodyAjv), createCompiler(textAjv)]

/** Compiles equal schemas, which many routes have, only once. */
function createCompiler(ajv: Ajv): Compile {
  const known = new Map<string, ValidateFunction>()
  return (schema) => {
    const key = JSON.stringify(schema)
    const validate = known.get(key) ?? ajv.compile(schema)
    known.set(key, validate)
    return validate
  }
}

/** Called by Fastify for each schema of a route. Compiles at first use or in `makeRest`, for a fast start. */
export function compileForRequest(schema: object, part: string | undefined): RequestCheck {
  const isText = part !== undefined && part !== 'body'
  const getValidator = makeLater(() => (isText ? compileText : compileBody)(schema))
  const check: RequestCheck = (values) => {
    const validate = getValidator()
    const fits = validate(values)
    // Ajv parses `1e999` as Infinity, and then accepts it despite minimum and maximum.
    const infinite = fits && isText ? infiniteNumbers(values) : []
    check.errors = fits ? infinite : validate.errors
    return fits && infinite.length === 0
  }
  return check
}

/** Returns true if the values are valid; otherwise `errors` has the reasons of the last call. */
export interface RequestCheck {
  (values: unknown): boolean
  errors?: ErrorObject[] | null | undefined
}

function infiniteNumbers(values: unknown): ErrorObject[] {
  return Object.entries(values ?? {})
    .filter(([, value]) => typeof value === 'number' && !Number.isFinite(value))
    .map(([name]) => ({ instancePath: `/${name}`, schemaPath: '', keyword: 'type', params: { type: 'finite number' } }))
}

/** Returns a check of one value against a schema, for items that fail individually: an empty list if valid. */
export function compileCheck(schema: object): (value: unknown, at: string) => Issue[] {
  const getValidator = makeLater(() => compileBody(schema))
  return (value, at) => {
    const validate = getValidator()
    return validate(value) ? [] : issuesOf(validate.errors ?? [], at)
  }
}

export function invalidInput(errors: readonly ErrorObject[], part: RequestPart): InvalidInput {
  return new InvalidInput(issuesOf(errors), part)
}

export function issuesOf(errors: readonly ErrorObject[], at = ''): Issue[] {
  const issues = new Map<string, Issue>()
  for (const error of errors) {
    // The rule for the discriminator field reports the same error in more detail.
    if (error.keyword === 'discriminator') continue
    if (error.keyword === 'maxLength' && hasFormatError(errors, error.instancePath)) continue
    const issue = { path: pathOf(error, at), message: messageOf(error) }
    issues.set(`${issue.path} ${issue.message}`, issue)
    if (issues.size === maxIssues) break
  }
  return [...issues.values()]
}

// A value of the wrong format is not also reported as too long.
function hasFormatError(errors: readonly ErrorObject[], path: string): boolean {
  return errors.some(({ keyword, instancePath }) => instancePath === path && /^(format|pattern)$/.test(keyword))
}

function pathOf(error: ErrorObject, at: string): string {
  const steps = error.instancePath.split('/').slice(1).map(unescapePointer)
  if (error.keyword === 'required') steps.push(String(error.params.missingProperty))
  if (error.keyword === 'additionalProperties') steps.push(String(error.params.additionalProperty))
  return steps.reduce(joinPath, at)
}

/** Joins `items`, then `3`, then `email` to `items[3].email`. */
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
      return error.params.pattern === visiblePattern
        ? 'must not be blank'
        : `must have the form ${error.params.pattern}`
    case 'format':
      return `must be a ${error.params.format === 'uuid' ? 'UUID' : error.params.format}`
    default:
      return error.message ?? 'is not valid'
  }
}
