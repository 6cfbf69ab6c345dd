import type { Sql } from '../../base/db.ts'
import { type Issue, unprocessable } from '../../base/errors.ts'
import { findWorkspace } from '../../workspace/workspace.ts'
import type { CustomValues, FitField } from '../lead/custom-fields.ts'
import type { LeadPatch } from '../lead/input.ts'
import type { Lead, LeadUser } from '../lead/lead.ts'
import { fitValue, hasChoices, keptType } from './field-types.ts'
import { fieldsInUse, type LeadField } from './lead-fields.ts'

/** The patch of a member, held to what the workspace says of its custom fields; without any it costs no look. */
export async function fitChange(sql: Sql, user: LeadUser, patch: LeadPatch): Promise<LeadPatch> {
  if (Object.keys(patch.values).length === 0) return patch
  return { ...patch, fit: fitTo(await fieldsInUse(sql, user.workspaceId), user.defaultCountry, throwUnfit) }
}

/** The same for a lead that a member makes, which has what the workspace requires. */
export async function fitNew(sql: Sql, user: LeadUser, patch: LeadPatch): Promise<LeadPatch> {
  const fields = await fieldsInUse(sql, user.workspaceId)
  for (const field of fields.values()) if (field.required && isMissing(patch.values, field)) throwUnfit(field, required)
  return { ...patch, fit: fitTo(fields, user.defaultCountry, throwUnfit) }
}

/**
 * The patch of an agent, which may set the statuses of the workspace and what fits its custom fields. It may leave out what is
 * required: it knows of a customer what they have said so far.
 */
export async function fitAgent(
  sql: Sql,
  { workspaceId, defaultCountry }: LeadUser,
  patch: LeadPatch,
): Promise<LeadPatch> {
  const [fields, statuses] = await Promise.all([
    Object.keys(patch.values).length === 0 ? null : fieldsInUse(sql, workspaceId),
    patch.fields.status === undefined ? null : statusesOf(sql, workspaceId),
  ])
  return {
    ...patch,
    ...(fields !== null && { fit: fitTo(fields, defaultCountry, sayUnfit) }),
    ...(statuses !== null && { statuses }),
  }
}

/** The keys of the fields that every lead of the workspace is to have, and this one has not. */
export async function missingFields(sql: Sql, workspaceId: string, { customFields }: Lead): Promise<string[]> {
  const had = new Set(customFields.map(({ key }) => key))
  const fields = [...(await fieldsInUse(sql, workspaceId)).values()]
  return fields.filter(({ key, required: isRequired }) => isRequired && !had.has(key)).map(({ key }) => key)
}

async function statusesOf(sql: Sql, workspaceId: string): Promise<string[]> {
  return (await findWorkspace(sql, workspaceId))?.leadStatuses ?? []
}

function isMissing(values: CustomValues, { key }: LeadField): boolean {
  return (values[key] ?? '') === ''
}

function fitTo(fields: ReadonlyMap<string, LeadField>, country: string | null, refuse: Refuse): FitField {
  return (key, value) => {
    const field = fields.get(key)
    if (field === undefined) return undefined
    const isEmpty = value === null || (typeof value === 'string' && value.trim() === '')
    if (isEmpty && field.required) return refuse(field, required)
    if (isEmpty) return null
    const fitting = fitValue(field, value, country)
    if ('problem' in fitting) return refuse(field, fitting.problem)
    return { key, label: field.label, type: keptType(field.type), value: fitting.value }
  }
}

type Refuse = (field: LeadField, problem: string) => Omit<Issue, 'path'>

const required = 'is required: every lead of this workspace has it'

function throwUnfit({ key, label }: LeadField, problem: string): never {
  const named = `${label} ${problem}`
  throw unprocessable(named, { issues: [{ path: `customFieldValues.${key}`, message: problem }] })
}

const sayUnfit: Refuse = ({ type, choices }, problem) =>
  hasChoices(type) && problem !== required
    ? {
        message: type === 'select' ? 'must be one of the allowed options' : 'must be some of the allowed options',
        allowed: choices,
      }
    : { message: problem }
