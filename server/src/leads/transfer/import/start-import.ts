import type { Static } from 'typebox'
import type { Tx } from '../../../base/db.ts'
import { conflict, InvalidInput, type Issue } from '../../../base/errors.ts'
import { newId } from '../../../base/id.ts'
import { recordAudit } from '../../../team/audit.ts'
import { publishImport } from '../../../team/live-updates.ts'
import type { Member, TeamActor } from '../../../team/member.ts'
import { findWorkspace } from '../../../workspaces/workspace.ts'
import { fieldsInUse, hasChoices, listChoices } from '../../fields/lead-fields.ts'
import type { LeadDeps } from '../../lead/lead.ts'
import { parseTarget, targetOfKey } from '../file/column-mapping.ts'
import type { FieldValueMapping, ValueMapping } from '../file/field-values.ts'
import { allowedValues, choiceFields, valueKey } from '../file/field-values.ts'
import { deletePieces, deleteUnneeded } from './file-pieces.ts'
import { checkOpenImports, endStates, expiryOf, findImport, type ImportRow, lockImport } from './imports.ts'
import { type FilePreview, previewFile } from './preview.ts'
import type { NewImportBody, StartBody } from './schema.ts'
import { decryptSettings, encryptSettings, type ImportChoice } from './settings.ts'
import { endTracking } from './track-leads.ts'

/** Creates an import whose file is then uploaded. Throws 409 if too many are open. */
export async function createImport(
  { db, keyStore, clock }: LeadDeps,
  { workspaceId, actor }: Member,
  { fileName, size, format = 'csv' }: Static<typeof NewImportBody>,
): Promise<ImportRow> {
  const keyring = await keyStore.keyring(workspaceId)
  const now = clock.now()
  const id = newId(now)
  const settings = encryptSettings(keyring, id, { fileName, choice: null })
  return db.tx(async (tx) => {
    await checkOpenImports(tx, workspaceId)
    await tx`
      insert into lead_imports (
        workspace_id, id, state, format, settings, actor_type, actor_id, size, due_at, created_at, expires_at
      )
      values (
        ${workspaceId}, ${id}, 'uploading', ${format}, ${settings}, ${actor.type}, ${actor.id}, ${size}, ${now}, ${now},
        ${expiryOf(now)}
      )`
    publishImport(tx, workspaceId, id)
    return findImport(tx, workspaceId, id)
  })
}

type StartRequest = Static<typeof StartBody>

/** Starts an uploaded import at its first row. After a dry run it can be started again. */
export async function startImport(
  deps: LeadDeps,
  { workspaceId, actor }: Member,
  importId: string,
  request: StartRequest,
): Promise<ImportRow> {
  const keyring = await deps.keyStore.keyring(workspaceId)
  const row = await findImport(deps.db.sql, workspaceId, importId)
  checkStartable(row)
  const preview = await previewFile(deps.db.sql, keyring, row, request)
  const choice = await choiceOf(deps, row, preview, request)
  const { fileName } = decryptSettings(keyring, importId, row.settings)
  const dryRun = request.dryRun === true
  return deps.db.tx(async (tx) => {
    checkStartable(await lockImport(tx, workspaceId, importId))
    const now = deps.clock.now()
    await deletePieces(tx, workspaceId, importId, 'refused')
    await tx`
      update lead_imports
      set state = 'running',
        settings = ${encryptSettings(keyring, importId, { fileName, choice })},
        report = null,
        actor_type = ${actor.type},
        actor_id = ${actor.id},
        dry_run = ${dryRun},
        position = ${preview.dataStart},
        rows = 0, created = 0, updated = 0, unchanged = 0, refused = 0, refused_bytes = 0,
        due_at = ${now},
        attempts = 0,
        started_at = ${now},
        ended_at = null,
        expires_at = null
      where workspace_id = ${workspaceId}
        and id = ${importId}`
    publishImport(tx, workspaceId, importId)
    if (!dryRun) await audit(tx, actor, 'leads.import_started', row, now)
    return findImport(tx, workspaceId, importId)
  })
}

async function choiceOf(
  deps: LeadDeps,
  row: ImportRow,
  { columns, encoding, delimiter }: FilePreview,
  request: StartRequest,
): Promise<ImportChoice> {
  const {
    match,
    createIfMissing = true,
    emptyCells = 'keep',
    splitNames = false,
    decimal = null,
    labels = {},
  } = request
  return {
    ...{ format: row.format, encoding, delimiter, match, createIfMissing, emptyCells, splitNames, decimal, labels },
    columns: columns.map(({ name }) => name),
    targets: targetsOf(row, columns, request),
    values: await valuesOf(deps, row.workspace_id, request),
    fieldValues: await fieldValuesOf(deps, row.workspace_id, request),
  }
}

const audit = (tx: Tx, actor: TeamActor, action: string, { workspace_id: scopeId, id }: ImportRow, now: Date) =>
  recordAudit(tx, { scopeId, actor, action, target: `import:${id}` }, now)

function checkStartable({ state, uploaded, size }: ImportRow): void {
  if (state === 'uploading') throw conflict(`The upload is not complete: ${uploaded} of ${size} bytes were uploaded`)
  if (state !== 'ready' && state !== 'checked') throw conflict(`The import cannot be started: it is ${state}`)
}

function targetsOf(
  { format }: ImportRow,
  columns: readonly { name: string; target: string | null }[],
  { mapping = {}, match }: StartRequest,
): (string | null)[] {
  const issues: Issue[] = []
  const reject = (path: string, message: string) => {
    issues.push({ path, message })
  }
  for (const [name, target] of Object.entries(mapping)) {
    if (!columns.some((column) => column.name === name)) {
      reject(
        `mapping.${name}`,
        format === 'csv' ? 'is not a column of the file' : 'is only for CSV; NDJSON rows name their fields',
      )
    } else if (target !== null && parseTarget(target) === null) {
      reject(`mapping.${name}`, 'must be a field of a lead, k_…, customFieldValues.…, or null')
    }
  }
  const mappedTargets = new Set(Object.values(mapping))
  // A column mapped to a field takes it from a column for which it was only proposed.
  const targets = columns.map(({ name, target }) =>
    Object.hasOwn(mapping, name) ? (mapping[name] ?? null) : mappedTargets.has(target) ? null : target,
  )
  for (const [at, target] of targets.entries()) {
    if (target !== null && targets.indexOf(target) !== at) reject('mapping', `maps two columns to ${target}`)
  }
  if (format === 'csv' && match !== 'none' && match !== 'id' && !targets.includes(match)) {
    reject('match', 'must be a field that a column fills')
  }
  if (format === 'csv' && match === 'id') reject('match', 'cannot be id for CSV files')
  if (issues.length > 0) throw new InvalidInput(issues)
  return targets
}

/** Returns the mapping of values by normalized value. Throws 400 for values that a lead cannot have. */
async function valuesOf({ db }: LeadDeps, workspaceId: string, { values = {} }: StartRequest): Promise<ValueMapping> {
  const workspace = await findWorkspace(db.sql, workspaceId)
  const issues: Issue[] = []
  const mapping: ValueMapping = {}
  for (const field of choiceFields) {
    const allowed = allowedValues(field, workspace?.leadStatuses ?? [])
    for (const [text, value] of Object.entries(values[field] ?? {})) {
      if (value !== null && allowed?.includes(value) === false) {
        issues.push({ path: `values.${field}`, message: `must be one of ${allowed.join(', ')}, or null` })
      }
      mapping[field] = { ...mapping[field], [valueKey(text)]: value }
    }
  }
  if (issues.length > 0) throw new InvalidInput(issues.slice(0, 20))
  return mapping
}

/** Does the same for fields that the workspace defines. */
async function fieldValuesOf({ db }: LeadDeps, workspaceId: string, { fieldValues = {} }: StartRequest) {
  if (Object.keys(fieldValues).length === 0) return {}
  const fields = await fieldsInUse(db.sql, workspaceId)
  const issues: Issue[] = []
  const mapping: FieldValueMapping = {}
  for (const [target, meanings] of Object.entries(fieldValues)) {
    const path = `fieldValues.${target}`
    const parsed = parseTarget(target)
    const field = parsed !== null && 'key' in parsed ? fields.get(parsed.key) : undefined
    if (field === undefined || !hasChoices(field.type)) {
      issues.push({ path, message: 'must be a field with choices that the workspace defines' })
      continue
    }
    for (const value of Object.values(meanings)) {
      if (value === null || field.choices.includes(value)) continue
      issues.push({ path, message: `must be one of ${listChoices(field.choices)}, or null` })
    }
    const entries = Object.entries(meanings).map(([text, value]) => [valueKey(text), value] as const)
    mapping[targetOfKey(field.key)] = Object.fromEntries(entries)
  }
  if (issues.length > 0) throw new InvalidInput(issues.slice(0, 20))
  return mapping
}

/** Cancels an import permanently; written rows stay. */
export async function cancelImport({ db, clock }: LeadDeps, { workspaceId, actor }: Member, importId: string) {
  return db.tx(async (tx) => {
    const now = clock.now()
    const row = await lockImport(tx, workspaceId, importId)
    if (endStates.includes(row.state)) throw conflict(`The import has ended: it is ${row.state}`)
    await tx`
      update lead_imports
      set state = 'cancelled',
        ended_at = ${now},
        expires_at = ${expiryOf(now)}
      where workspace_id = ${workspaceId}
        and id = ${importId}`
    await deleteUnneeded(tx, workspaceId, importId, 'cancelled')
    if (!row.dry_run) await endTracking(tx, workspaceId, importId, now)
    publishImport(tx, workspaceId, importId)
    await audit(tx, actor, 'leads.import_cancelled', row, now)
    return findImport(tx, workspaceId, importId)
  })
}
