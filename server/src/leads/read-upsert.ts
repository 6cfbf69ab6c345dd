import { InvalidInput, type Issue } from '../base/errors.ts'
import { readPhone } from '../base/phone.ts'
import { compileCheck, joinPath } from '../base/validation.ts'
import type { CustomField } from './custom-fields.ts'
import { type ReadContext, readLeadPatch } from './input.ts'
import { UpsertBody } from './schema.ts'
import type { UpsertItem } from './upsert-plan.ts'
import type { MatchBy } from './working-set.ts'

const checkShape = compileCheck(UpsertBody)

/** Reads one upsert whose shape was checked. `at` is where it stands in the request: `` or `items[3]`. */
export function readUpsert(
  body: UpsertBody,
  parameters: CustomField[],
  { at, ...reader }: ReadContext,
): UpsertItem | InvalidInput {
  const leadAt = joinPath(at, 'lead')
  const { patch, issues } = readLeadPatch(body.lead, parameters, { ...reader, at: leadAt })
  const value = canonical(body.match.by, body.match.value, reader.defaultCountry)
  const matchIssues: Issue[] =
    value === null ? [{ path: joinPath(at, 'match.value'), message: 'must be a phone number of 8 to 20 digits' }] : []
  if (value === null || issues.length > 0) return new InvalidInput([...matchIssues, ...issues])
  return { by: body.match.by, value, patch, createIfMissing: body.createIfMissing !== false, at: leadAt }
}

/** Reads one item of a batch, whose shape nobody has looked at yet: what does not fit fails alone. */
export function readBulkItem(item: unknown, context: ReadContext): UpsertItem | InvalidInput {
  const issues = checkShape(item, context.at)
  return issues.length > 0 ? new InvalidInput(issues) : readUpsert(item as UpsertBody, [], context)
}

function canonical(by: MatchBy, value: string, defaultCountry: string | null): string | null {
  if (by === 'phone') return readPhone(value, defaultCountry ?? undefined)
  return by === 'id' ? value.toLowerCase() : value
}
