import type { Sql } from '../../base/db.ts'
import { unprocessable } from '../../base/errors.ts'
import type { CustomField, CustomValues, FitField } from '../lead/custom-fields.ts'
import type { LeadPatch } from '../lead/input.ts'
import type { LeadUser } from '../lead/lead.ts'
import { fitValue, keptType } from './field-types.ts'
import { fieldsInUse, type LeadField } from './lead-fields.ts'

/** The patch of a member, held to what the workspace says of its custom fields; without any it costs no look. */
export async function fitChange(sql: Sql, user: LeadUser, patch: LeadPatch): Promise<LeadPatch> {
  if (Object.keys(patch.values).length === 0) return patch
  return { ...patch, fit: fitTo(await fieldsInUse(sql, user.workspaceId), user.defaultCountry) }
}

/** The same for a lead that a member makes, which has what the workspace requires. */
export async function fitNew(sql: Sql, user: LeadUser, patch: LeadPatch): Promise<LeadPatch> {
  const fields = await fieldsInUse(sql, user.workspaceId)
  for (const field of fields.values()) if (field.required && isMissing(patch.values, field)) throw isRequired(field)
  return { ...patch, fit: fitTo(fields, user.defaultCountry) }
}

function isMissing(values: CustomValues, { key }: LeadField): boolean {
  return (values[key] ?? '') === ''
}

function fitTo(fields: ReadonlyMap<string, LeadField>, country: string | null): FitField {
  return (key, value): CustomField | null | undefined => {
    const field = fields.get(key)
    if (field === undefined) return undefined
    const isEmpty = value === null || (typeof value === 'string' && value.trim() === '')
    if (isEmpty && field.required) throw isRequired(field)
    if (isEmpty) return null
    const fitting = fitValue(field, value, country)
    if ('problem' in fitting) throw unfit(field, fitting.problem)
    return { key, label: field.label, type: keptType(field.type), value: fitting.value }
  }
}

const isRequired = (field: LeadField) => unfit(field, 'is required: every lead of this workspace has it')

function unfit({ key, label }: LeadField, problem: string) {
  const named = `${label} ${problem}`
  return unprocessable(named, { issues: [{ path: `customFieldValues.${key}`, message: problem }] })
}
