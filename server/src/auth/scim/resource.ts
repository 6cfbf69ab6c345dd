import { isBlank } from '../../base/text/external-text.ts'

/** An error in the form of SCIM (RFC 7644, section 3.12). */
export class ScimError extends Error {
  readonly status: number
  readonly scimType:
    | 'invalidFilter'
    | 'invalidPath'
    | 'invalidSyntax'
    | 'invalidValue'
    | 'tooMany'
    | 'uniqueness'
    | null

  constructor(status: number, detail: string, scimType: ScimError['scimType'] = null) {
    super(detail)
    this.status = status
    this.scimType = scimType
  }
}

export const invalidValue = (detail: string) => new ScimError(400, detail, 'invalidValue')
export const resourceNotFound = () => new ScimError(404, 'The resource does not exist')

/** What is stored of a user; other attributes are accepted and dropped. */
export interface ScimUser {
  userName: string
  externalId: string | null
  displayName: string | null
  givenName: string | null
  familyName: string | null
  email: string | null
  isActive: boolean
}

export interface ScimGroup {
  displayName: string
  externalId: string | null
  /** Ids of users of SCIM. */
  members: Set<string>
}

type Json = Record<string, unknown>

interface Operation {
  op: 'add' | 'replace' | 'remove'
  path: string | null
  value: unknown
}

const maxOperations = 1000
const emailShape = /^[^\s@]{1,64}@[^\s@]{1,189}$/

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

function requireObject(body: unknown): Json {
  if (isObject(body)) return body
  throw new ScimError(400, 'The body must be a JSON object', 'invalidSyntax')
}

/** Returns a text; null for none. */
function readText(value: unknown, name: string, maxLength = 200): string | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string') throw invalidValue(`${name} must be a text`)
  if (value.length > maxLength) throw invalidValue(`${name} must have at most ${maxLength} characters`)
  return value
}

function requireText(value: unknown, name: string, maxLength = 200): string {
  const text = readText(value, name, maxLength)
  if (text === null || isBlank(text)) throw invalidValue(`${name} is required`)
  return text
}

/** Some providers send booleans as text. */
function readBoolean(value: unknown, name: string): boolean {
  const text = typeof value === 'string' ? value.toLowerCase() : value
  if (text === true || text === 'true') return true
  if (text === false || text === 'false') return false
  throw invalidValue(`${name} must be true or false`)
}

/** Returns the primary address, else the one for work, else the first. */
function readEmails(value: unknown): string | null {
  const emails = [value ?? []].flat().filter(isObject)
  const chosen =
    emails.find(({ primary }) => primary === true || primary === 'true') ??
    emails.find(({ type }) => type === 'work') ??
    emails[0]
  return chosen === undefined ? null : readEmail(chosen.value)
}

function readEmail(value: unknown): string | null {
  const email = readText(value, 'emails.value', 254)
  if (email !== null && !emailShape.test(email)) throw invalidValue('emails.value must be an e-mail address')
  return email
}

/** The address of the account: of several providers, some send it only as the user name. */
export function emailOf({ email, userName }: ScimUser): string {
  if (email !== null) return email
  if (emailShape.test(userName)) return userName
  throw invalidValue('emails or userName must have an e-mail address')
}

/** The name that colleagues see. */
export function nameOf({ displayName, givenName, familyName, userName }: ScimUser): string {
  const parts = [givenName, familyName].filter((part) => part !== null).join(' ')
  const name = [displayName ?? '', parts, userName].find((text) => !isBlank(text)) ?? userName
  return name.trim().slice(0, 100).toWellFormed().trim()
}

export function readUser(body: unknown): ScimUser {
  const { userName, externalId, displayName, name, emails, active } = requireObject(body)
  const { givenName, familyName } = isObject(name) ? name : {}
  return {
    userName: requireText(userName, 'userName', 254),
    externalId: readText(externalId, 'externalId'),
    displayName: readText(displayName, 'displayName'),
    givenName: readText(givenName, 'name.givenName'),
    familyName: readText(familyName, 'name.familyName'),
    email: readEmails(emails),
    isActive: active === undefined || active === null ? true : readBoolean(active, 'active'),
  }
}

/** Readers of the attributes that are stored, by path in lower case; a removed attribute has the value undefined. */
const userAttributes: Record<string, (value: unknown) => Partial<ScimUser>> = {
  username: (value) => ({ userName: requireText(value, 'userName', 254) }),
  externalid: (value) => ({ externalId: readText(value, 'externalId') }),
  displayname: (value) => ({ displayName: readText(value, 'displayName') }),
  'name.givenname': (value) => ({ givenName: readText(value, 'name.givenName') }),
  'name.familyname': (value) => ({ familyName: readText(value, 'name.familyName') }),
  name: (value) => (isObject(value) ? readEach(value, 'name.') : {}),
  emails: (value) => ({ email: readEmails(value) }),
  'emails.value': (value) => ({ email: readEmail(value) }),
  active: (value) => ({ isActive: readBoolean(value, 'active') }),
}

function readAttribute(path: string, value: unknown): Partial<ScimUser> {
  const name = pathOf(path)
  return Object.hasOwn(userAttributes, name) ? (userAttributes[name]?.(value) ?? {}) : {}
}

const readEach = (values: Json, prefix = ''): Partial<ScimUser> =>
  Object.assign({}, ...Object.entries(values).map(([name, value]) => readAttribute(prefix + name, value)))

export function patchUser(before: ScimUser, body: unknown): ScimUser {
  const user = { ...before }
  for (const { op, path, value } of readOperations(body)) {
    if (path !== null) Object.assign(user, readAttribute(path, op === 'remove' ? undefined : value))
    else if (isObject(value) && op !== 'remove') Object.assign(user, readEach(value))
    else throw new ScimError(400, 'An operation without a path needs an object', 'invalidValue')
  }
  return user
}

export function readGroup(body: unknown): ScimGroup {
  const { displayName, externalId, members } = requireObject(body)
  return {
    displayName: requireText(displayName, 'displayName'),
    externalId: readText(externalId, 'externalId'),
    members: new Set(readMembers(members)),
  }
}

export function patchGroup(before: ScimGroup, body: unknown): ScimGroup {
  const group = { ...before, members: new Set(before.members) }
  for (const { op, path, value } of readOperations(body)) {
    if (path !== null) changeGroup(group, op, path, value)
    else if (isObject(value)) for (const [name, each] of Object.entries(value)) changeGroup(group, op, name, each)
    else throw new ScimError(400, 'An operation without a path needs an object', 'invalidValue')
  }
  return group
}

const oneMember = /^members\[\s{0,9}value\s{1,9}eq\s{1,9}"([^"\\]{1,100})"\s{0,9}\]$/i

function changeGroup(group: ScimGroup, op: Operation['op'], path: string, value: unknown): void {
  const [, memberId] = oneMember.exec(path) ?? []
  if (memberId !== undefined) {
    if (op === 'remove') group.members.delete(memberId.toLowerCase())
    return
  }
  switch (pathOf(path)) {
    case 'displayname':
      group.displayName = requireText(op === 'remove' ? undefined : value, 'displayName')
      return
    case 'externalid':
      group.externalId = readText(op === 'remove' ? undefined : value, 'externalId')
      return
    case 'members':
      changeMembers(group, op, value)
  }
}

function changeMembers(group: ScimGroup, op: Operation['op'], value: unknown): void {
  const ids = readMembers(value)
  if (op === 'add') for (const id of ids) group.members.add(id)
  else if (op === 'replace') group.members = new Set(ids)
  // Without a value, everybody.
  else if (value === undefined || value === null) group.members.clear()
  else for (const id of ids) group.members.delete(id)
}

function readMembers(value: unknown): string[] {
  return [value ?? []].flat().map((member) => {
    const id = isObject(member) ? member.value : member
    return requireText(id, 'members.value', 100).toLowerCase()
  })
}

function readOperations(body: unknown): Operation[] {
  const { Operations: operations } = requireObject(body)
  if (!Array.isArray(operations) || operations.length > maxOperations) {
    throw new ScimError(400, `Operations must be an array of at most ${maxOperations}`, 'invalidSyntax')
  }
  return operations.map((each) => {
    const { op, path, value } = requireObject(each)
    const name = typeof op === 'string' ? op.toLowerCase() : ''
    if (name !== 'add' && name !== 'replace' && name !== 'remove') {
      throw new ScimError(400, 'op must be add, replace or remove', 'invalidSyntax')
    }
    return { op: name, path: readText(path, 'path', 500), value }
  })
}

const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/

/**
 * Returns the path of an attribute in lower case, without its schema and filter: `emails[type eq "work"].value` becomes
 * `emails.value`, because one address is stored.
 */
function pathOf(path: string): string {
  const lower = path.toLowerCase().replace(coreSchema, '')
  const [start, end] = [lower.indexOf('['), lower.lastIndexOf(']')]
  return start === -1 || end < start ? lower : lower.slice(0, start) + lower.slice(end + 1)
}

/** A filter that finds at most one resource. */
export interface ScimFilter {
  attribute: 'id' | 'userName' | 'externalId' | 'displayName'
  value: string
}

const filterShape = /^\s{0,9}([a-z]{1,20})\s{1,9}eq\s{1,9}"((?:[^"\\]|\\["\\/]){0,300})"\s{0,9}$/i

/** Parses a filter such as `userName eq "ana@example.com"`, the only operator that providers use to find a resource. */
export function readFilter(text: string, attributes: readonly ScimFilter['attribute'][]): ScimFilter {
  const [, name = '', quoted = ''] = filterShape.exec(text) ?? []
  const attribute = attributes.find((one) => one.toLowerCase() === name.toLowerCase())
  if (attribute === undefined) {
    throw new ScimError(400, `filter must be ${attributes.join(', ')} with eq and a quoted text`, 'invalidFilter')
  }
  return { attribute, value: quoted.replace(/\\(.)/g, '$1') }
}
