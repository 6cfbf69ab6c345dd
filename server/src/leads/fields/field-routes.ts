import { type Static, Type } from 'typebox'
import { type Tx, violates } from '../../base/db.ts'
import { conflict, InvalidInput, type Issue, notFound, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type App, oneOf, titled } from '../../base/route.ts'
import { text, visiblePattern } from '../../base/schema-types.ts'
import { recordAudit } from '../../team/audit.ts'
import { publishWorkspace } from '../../team/live-updates.ts'
import type { Member, TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { lockWorkspace } from '../../workspaces/workspace.ts'
import { keyProblem, maxKeyLength, maxTextLength } from '../lead/custom-fields.ts'
import type { LeadDeps } from '../lead/lead.ts'
import {
  choicesProblem,
  fieldLocations,
  hasChoices,
  type LeadField,
  leadFieldTypes,
  listLeadFields,
} from './lead-fields.ts'

const key = text(
  maxKeyLength,
  'The key of the custom field in leads: lowercase snake_case, a letter first. Immutable. As a column, sort and filter it is `field:<key>`.',
  { minLength: 1, example: 'cidade' },
)
const label = Type.String({
  minLength: 1,
  maxLength: 80,
  pattern: visiblePattern,
  description: 'Display name; unique in the workspace, ignoring case.',
  example: 'Cidade',
})
const type = oneOf(leadFieldTypes, {
  title: 'LeadFieldType',
  description:
    "Format that people must use. `amount` is a number with at most two decimals, in the workspace's currency; `select` is one of the choices, `multiselect` several; dates are `2026-01-31`. API keys are not bound by it. Existing values stay if the type changes.",
})
const choices = Type.Array(Type.String({ maxLength: maxTextLength }), {
  maxItems: 100,
  description:
    'For `select` and `multiselect`: the allowed values. Choices of a `multiselect` must not contain a comma.',
  example: ['Recife', 'Natal'],
})
const required = Type.Boolean({
  description: 'True if people must fill it when they create a lead, and cannot clear it.',
})
const shownIn = Type.Array(oneOf(fieldLocations, { title: 'LeadFieldPlace' }), {
  maxItems: fieldLocations.length,
  uniqueItems: true,
  description: 'Where it is shown by default: beside a lead, as a table column, in new leads and forms.',
})

const definition = { label, type, choices, required, shownIn }

const LeadFieldDefinition = titled('LeadField', {
  id: idSchema('The field.'),
  key,
  ...definition,
  isArchived: Type.Boolean({ description: 'True if archived: not offered and not validated. Values stay in leads.' }),
})

const { choices: _c, required: _r, shownIn: _s, ...requiredProperties } = definition
export const NewLeadField = Type.Object(
  { key, ...requiredProperties, ...Type.Partial(Type.Object({ choices, required, shownIn })).properties },
  { ...closed, title: 'NewLeadField', example: { key: 'cidade', label: 'Cidade', type: 'text' } },
)
export type NewLeadField = Static<typeof NewLeadField>

export const LeadFieldPatch = Type.Partial(
  Type.Object({ ...definition, isArchived: LeadFieldDefinition.properties.isArchived }),
  { ...closed, title: 'LeadFieldChanges', minProperties: 1, example: { label: 'City' } },
)
export type LeadFieldPatch = Static<typeof LeadFieldPatch>

const presentLeadField = ({ shown_in: shownIn, archived_at: archivedAt, ...field }: LeadField) => {
  return { ...field, shownIn, isArchived: archivedAt !== null }
}

export const maxFieldsInUse = 50
export const maxFields = 200

type Deps = Pick<LeadDeps, 'db' | 'clock'>

/** Adds a field after all others. Throws 409 if its key or label is taken, or 50 fields are in use. */
export function createLeadField({ db, clock }: Deps, by: Member, input: NewLeadField): Promise<LeadField> {
  const { key, label, type, choices = [], required = false, shownIn = ['panel', 'table', 'forms'] } = input
  const now = clock.now()
  const field = { ...{ key, type, choices, required, id: newId(now) }, label: label.trim(), shown_in: shownIn }
  const problem = keyProblem(key)
  throwIfIssues([...(problem === null ? [] : [{ path: 'key', message: problem }]), ...choiceIssues(field)])
  return db.tx(async (tx) => {
    const all = await lockFields(tx, by.workspaceId)
    checkFieldLimit(all)
    checkLabel(all, field)
    try {
      await tx`
        insert into lead_fields (
          workspace_id, id, key, label, type, choices, required, shown_in, place, created_at
        )
        values (
          ${by.workspaceId}, ${field.id}, ${key}, ${field.label}, ${type}, ${choices}::text[], ${required},
          ${shownIn}::text[], ${all.length}, ${now}
        )`
    } catch (error) {
      if (!violates(error, 'lead_fields_key')) throw error
      const isKeyArchived = all.some((one) => one.key === key && one.archived_at !== null)
      throw conflict(
        isKeyArchived
          ? 'An archived field has this key; restore it, or choose another key'
          : 'A field with this key already exists',
        { field: 'key' },
        error,
      )
    }
    await recordChange(tx, by, `lead_field:${field.id}`, 'created', now)
    return { ...field, archived_at: null }
  })
}

/** Changes, archives or restores a field. Existing values in leads stay as they are. */
export function changeLeadField({ db, clock }: Deps, by: Member, id: string, patch: LeadFieldPatch) {
  return db.tx(async (tx): Promise<LeadField> => {
    const all = await lockFields(tx, by.workspaceId)
    const before = all.find((field) => field.id === id.toLowerCase())
    if (before === undefined) throw notFound('Field not found')
    const now = clock.now()
    const after = applyFieldPatch(before, patch, now)
    throwIfIssues(choiceIssues(after))
    if (patch.label !== undefined) checkLabel(all, after)
    if (before.archived_at !== null && after.archived_at === null) checkFieldLimit(all, before)
    await tx`
      update lead_fields
      set label = ${after.label},
        type = ${after.type},
        choices = ${after.choices}::text[],
        required = ${after.required},
        shown_in = ${after.shown_in}::text[],
        archived_at = ${after.archived_at}
      where workspace_id = ${by.workspaceId}
        and id = ${after.id}`
    await recordChange(tx, by, `lead_field:${after.id}`, auditVerb(before, after), now)
    return after
  })
}

/** Sets the order of all fields. Throws 422 unless every field is listed once. */
export function orderLeadFields({ db, clock }: Deps, by: Member, ids: readonly string[]): Promise<LeadField[]> {
  return db.tx(async (tx) => {
    const all = await lockFields(tx, by.workspaceId)
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))]
    if (wanted.length !== ids.length || wanted.length !== all.length || !all.every(({ id }) => wanted.includes(id))) {
      throw unprocessable('ids must contain the id of every field exactly once')
    }
    await tx`
      update lead_fields f
      set place = o.place
      from unnest(${wanted}::uuid[]) with ordinality as o (id, place)
      where f.workspace_id = ${by.workspaceId}
        and f.id = o.id`
    await recordChange(tx, by, `workspace:${by.workspaceId}`, 'reordered', clock.now())
    return listLeadFields(tx, by.workspaceId)
  })
}

/** Locks the workspace, so that concurrent additions cannot exceed the limit. */
async function lockFields(tx: Tx, workspaceId: string): Promise<LeadField[]> {
  await lockWorkspace(tx, workspaceId)
  return listLeadFields(tx, workspaceId)
}

function applyFieldPatch(before: LeadField, patch: LeadFieldPatch, now: Date): LeadField {
  const { isArchived = before.archived_at !== null } = patch
  const type = patch.type ?? before.type
  return {
    ...before,
    label: patch.label?.trim() ?? before.label,
    type,
    choices: patch.choices ?? (hasChoices(type) ? before.choices : []),
    required: patch.required ?? before.required,
    shown_in: patch.shownIn ?? before.shown_in,
    archived_at: isArchived ? (before.archived_at ?? now) : null,
  }
}

function auditVerb(before: LeadField, after: LeadField): string {
  if (before.archived_at === null && after.archived_at !== null) return 'archived'
  return before.archived_at !== null && after.archived_at === null ? 'restored' : 'changed'
}

function checkFieldLimit(all: readonly LeadField[], back?: LeadField): void {
  if (all.filter((field) => field.archived_at === null).length >= maxFieldsInUse) {
    throw conflict(`A workspace has at most ${maxFieldsInUse} fields in use. Archive one first.`)
  }
  if (back === undefined && all.length >= maxFields) {
    throw conflict(`A workspace has at most ${maxFields} fields, archived ones included. Change one of those.`)
  }
}

// Labels identify fields to people: two fields with one label could not be told apart in a file or form.
function checkLabel(all: readonly LeadField[], { id, label }: Pick<LeadField, 'id' | 'label'>): void {
  if (all.some((field) => field.id !== id && field.label.toLowerCase() === label.toLowerCase())) {
    throw conflict('A field with this label already exists', { field: 'label' })
  }
}

function choiceIssues(field: Pick<LeadField, 'type' | 'choices'>): Issue[] {
  const problem = choicesProblem(field)
  return problem === null ? [] : [{ path: 'choices', message: problem }]
}

function throwIfIssues(issues: Issue[]): void {
  if (issues.length > 0) throw new InvalidInput(issues)
}

async function recordChange(tx: Tx, by: Member, target: string, what: string, now: Date): Promise<void> {
  const { workspaceId, actor } = by
  publishWorkspace(tx, workspaceId)
  await recordAudit(tx, { scopeId: workspaceId, actor, action: `lead_field.${what}`, target }, now)
}

const path = '/api/team/v1/workspaces/:workspaceId/lead-fields'
const oneField = Type.Object({ field: LeadFieldDefinition })
const fieldList = Type.Object({ fields: Type.Array(LeadFieldDefinition, { maxItems: maxFields }) })

export function leadFieldTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead fields')
  api.get(path, 'member', {
    operationId: 'listLeadFields',
    summary: 'List the fields of leads',
    description: 'In the order of the workspace, archived ones included.',
    answers: { 200: fieldList },
    allErrors: [400, 401, 404],
    run: async ({ member }) => {
      const fields = await listLeadFields(deps.db.sql, member.workspaceId)
      return { fields: fields.map(presentLeadField) }
    },
  })
  api.post(path, 'admin', {
    operationId: 'createLeadField',
    summary: 'Define a field of leads',
    description:
      'For admins. A workspace has at most 50 in use. Leads that already have a custom field with this key keep their values.',
    body: NewLeadField,
    answers: { 201: oneField },
    errors: [409],
    run: async ({ member, body }) => {
      return { field: presentLeadField(await createLeadField(deps, member, body)) }
    },
  })
  api.patch(`${path}/:fieldId`, 'admin', {
    operationId: 'updateLeadField',
    summary: 'Change, archive or restore a field of leads',
    description: 'For admins. Fields are never deleted: an archived field is no longer offered, and its values stay.',
    params: Type.Object({ ...workspaceParams, fieldId: idSchema('The field.') }),
    body: LeadFieldPatch,
    answers: { 200: oneField },
    errors: [409],
    run: async ({ member, params, body }) => {
      return { field: presentLeadField(await changeLeadField(deps, member, params.fieldId, body)) }
    },
  })
  api.put(`${path}/order`, 'admin', {
    operationId: 'orderLeadFields',
    summary: 'Order the fields of leads',
    description: 'For admins. List every field once, in the new order, archived ones included.',
    body: Type.Object(
      {
        ids: Type.Array(idSchema('A field.'), { maxItems: maxFields, description: 'All field ids, in the new order.' }),
      },
      closed,
    ),
    answers: { 200: fieldList },
    errors: [422],
    run: async ({ member, body }) => {
      const fields = await orderLeadFields(deps, member, body.ids)
      return { fields: fields.map(presentLeadField) }
    },
  })
}
