import { type Tx, violates } from '../../base/db.ts'
import { conflict, InvalidInput, type Issue, notFound, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import { announceWorkspace } from '../../team/team-news.ts'
import { lockWorkspace } from '../../workspace/workspace.ts'
import { keyProblem } from '../lead/custom-fields.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { choicesProblem } from './field-types.ts'
import { type LeadField, listLeadFields } from './lead-fields.ts'
import type { LeadFieldPatch, NewLeadField } from './schema.ts'

export const maxFieldsInUse = 50
export const maxFields = 200

type Deps = Pick<LeadDeps, 'db' | 'clock'>

/** Adds a field after all others. Refuses with 409 when its key or label is taken, or there are 50 in use. */
export function createLeadField({ db, clock }: Deps, by: Member, input: NewLeadField): Promise<LeadField> {
  const { key, label, type, choices = [], required = false, shownIn = ['panel', 'table', 'forms'] } = input
  const now = clock.now()
  const field = { ...{ key, type, choices, required, id: newId(now) }, label: label.trim(), shown_in: shownIn }
  const problem = keyProblem(key)
  refuse([...(problem === null ? [] : [{ path: 'key', message: problem }]), ...issuesOfChoices(field)])
  return db.tx(async (tx) => {
    const all = await lockFields(tx, by.workspaceId)
    checkRoom(all)
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
      const isAway = all.some((one) => one.key === key && one.archived_at !== null)
      throw conflict(
        isAway
          ? 'An archived field has this key: bring it back, or choose another'
          : 'A field with this key already exists',
        { field: 'key' },
        error,
      )
    }
    await recordChange(tx, by, `lead_field:${field.id}`, 'created', now)
    return { ...field, archived_at: null }
  })
}

/** Changes what is said of a field, puts it away or brings it back. Values that leads have stay as they are. */
export function changeLeadField({ db, clock }: Deps, by: Member, id: string, patch: LeadFieldPatch) {
  return db.tx(async (tx): Promise<LeadField> => {
    const all = await lockFields(tx, by.workspaceId)
    const before = all.find((field) => field.id === id.toLowerCase())
    if (before === undefined) throw fieldNotFound()
    const now = clock.now()
    const after = patched(before, patch, now)
    refuse(issuesOfChoices(after))
    if (patch.label !== undefined) checkLabel(all, after)
    if (before.archived_at !== null && after.archived_at === null) checkRoom(all, before)
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
    await recordChange(tx, by, `lead_field:${after.id}`, whatHappened(before, after), now)
    return after
  })
}

/** Puts all fields into this order; 422 unless every one is named once. */
export function orderLeadFields({ db, clock }: Deps, by: Member, ids: readonly string[]): Promise<LeadField[]> {
  return db.tx(async (tx) => {
    const all = await lockFields(tx, by.workspaceId)
    const wanted = [...new Set(ids.map((id) => id.toLowerCase()))]
    if (wanted.length !== ids.length || !sameMembers(wanted, all)) {
      throw unprocessable('Name every field once: read the list anew, and send all of its ids')
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

const sameMembers = (ids: readonly string[], fields: readonly LeadField[]): boolean =>
  ids.length === fields.length && fields.every(({ id }) => ids.includes(id))

/** The lock makes counting and adding one step: two at once cannot both take the last place. */
async function lockFields(tx: Tx, workspaceId: string): Promise<LeadField[]> {
  await lockWorkspace(tx, workspaceId)
  return listLeadFields(tx, workspaceId)
}

function patched(before: LeadField, patch: LeadFieldPatch, now: Date): LeadField {
  const { isArchived = before.archived_at !== null } = patch
  const type = patch.type ?? before.type
  const keepsChoices = type === 'select' || type === 'multiselect'
  return {
    ...before,
    label: patch.label?.trim() ?? before.label,
    type,
    choices: patch.choices ?? (keepsChoices ? before.choices : []),
    required: patch.required ?? before.required,
    shown_in: patch.shownIn ?? before.shown_in,
    archived_at: isArchived ? (before.archived_at ?? now) : null,
  }
}

function whatHappened(before: LeadField, after: LeadField): string {
  if (before.archived_at === null && after.archived_at !== null) return 'archived'
  return before.archived_at !== null && after.archived_at === null ? 'restored' : 'changed'
}

function checkRoom(all: readonly LeadField[], back?: LeadField): void {
  if (all.filter((field) => field.archived_at === null).length >= maxFieldsInUse) {
    throw conflict(`A workspace has at most ${maxFieldsInUse} fields in use. Archive one first.`)
  }
  if (back === undefined && all.length >= maxFields) {
    throw conflict(`A workspace has at most ${maxFields} fields, archived ones included. Change one of those.`)
  }
}

// People know a field by its label: two of a name could not be told apart in a file or a form.
function checkLabel(all: readonly LeadField[], { id, label }: Pick<LeadField, 'id' | 'label'>): void {
  if (all.some((field) => field.id !== id && field.label.toLowerCase() === label.toLowerCase())) {
    throw conflict('A field with this label already exists', { field: 'label' })
  }
}

function issuesOfChoices(field: Pick<LeadField, 'type' | 'choices'>): Issue[] {
  const problem = choicesProblem(field)
  return problem === null ? [] : [{ path: 'choices', message: problem }]
}

function refuse(issues: Issue[]): void {
  if (issues.length > 0) throw new InvalidInput(issues)
}

const fieldNotFound = () => notFound('Field not found')

async function recordChange(tx: Tx, by: Member, target: string, what: string, now: Date): Promise<void> {
  const { workspaceId, actor } = by
  announceWorkspace(tx, workspaceId)
  await recordAudit(tx, { scopeId: workspaceId, actor, action: `lead_field.${what}`, target }, now)
}
