import { InvalidInput, type Issue } from '../../base/errors.ts'
import { phoneProblem } from '../../base/phone/phone.ts'
import { compileCheck, joinPath } from '../../base/validation.ts'
import type { TypedField } from '../lead/custom-fields.ts'
import { type ReadContext, readLeadPatch } from '../lead/input.ts'
import { holdsPhone, readPhones } from '../lead/read-phones.ts'
import { UpsertBody } from '../lead/schema.ts'
import type { UpsertItem } from './upsert-plan.ts'

const checkShape = compileCheck(UpsertBody)

/** Reads one upsert whose shape was checked. `at` is where it stands in the request: `` or `items[3]`. */
export function readUpsert(
  body: UpsertBody,
  parameters: TypedField[],
  { at, ...reader }: ReadContext,
): UpsertItem | InvalidInput {
  const leadAt = joinPath(at, 'lead')
  const { patch, issues } = readLeadPatch(body.lead, parameters, { ...reader, at: leadAt })
  const [value = null, storedDigits] = valuesOf(body.match, reader.defaultCountry)
  const matchIssues: Issue[] =
    value === null ? [{ path: joinPath(at, 'match.value'), message: phoneProblem(body.match.value) }] : []
  if (value === null || issues.length > 0) return new InvalidInput([...matchIssues, ...issues])
  const { by } = body.match
  const namesNumber =
    reader.masked === true &&
    (patch.namesNumber === true || by === 'phone' || (by !== 'id' && holdsPhone(value, reader.defaultCountry)))
  const item = { by, value, patch, createIfMissing: body.createIfMissing !== false, namesNumber, at: leadAt }
  return storedDigits === undefined ? item : { ...item, storedDigits }
}

/** Reads one item of a batch, whose shape nobody has looked at yet: what does not fit fails alone. */
export function readBulkItem(
  item: unknown,
  context: ReadContext,
  parameters: TypedField[] = [],
): UpsertItem | InvalidInput {
  const issues = checkShape(item, context.at)
  return issues.length > 0 ? new InvalidInput(issues) : readUpsert(item as UpsertBody, parameters, context)
}

/** The canonical value, none when it is no phone; then the digits as sent, when they may be a stored phone too. */
function valuesOf({ by, value }: UpsertBody['match'], defaultCountry: string | null): string[] {
  if (by === 'phone') return readPhones(value, defaultCountry).reverse()
  return [by === 'id' ? value.toLowerCase() : value]
}
