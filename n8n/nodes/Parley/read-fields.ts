import { createHash } from 'node:crypto'
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow'
import type { Operation } from './operations/operation.ts'

/** Reads the fields with their API names. Leaves out empty values; null is a value. */
export function readFields(context: IExecuteFunctions, operation: Operation, itemIndex: number): IDataObject {
  const own = operation.fields.map(({ name }) => [name, context.getNodeParameter(name, itemIndex)] as const)
  const more = operation.more === undefined ? {} : (context.getNodeParameter('more', itemIndex, {}) as IDataObject)
  const times = [...operation.fields, ...(operation.more ?? [])].filter(({ type }) => type === 'dateTime')
  const fields: IDataObject = {}
  for (const [name, value] of [...own, ...Object.entries(more)]) {
    if (isEmpty(value)) continue
    const isTime = times.some((field) => field.name === name)
    fields[snakeCase(name)] = isTime ? withOffset(value, context.getTimezone()) : value
  }
  return fields
}

const isEmpty = (value: unknown): boolean =>
  value === '' || value === undefined || (Array.isArray(value) && value.length === 0)

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Adds the offset of the workflow's time zone: n8n passes local times or Luxon objects. */
function withOffset(value: unknown, zone: string): string {
  if (typeof value === 'object' && value !== null && 'toISO' in value)
    return String((value as { toISO(): string }).toISO())
  const text = String(value).trim().replace(' ', 'T')
  if (!/^\d{4}-\d{2}-\d{2}(T[\d:.]+)?$/.test(text)) return text
  const time = text.includes('T') ? text : `${text}T00:00:00`
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(
    new Date(`${time}Z`),
  )
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', '') ?? ''
  return `${time}${offset || 'Z'}`
}

/**
 * Returns an idempotency key that is the same for n8n's retries of the node, but differs per execution, item, loop
 * round and content, because an agent can call the tool several times in one execution.
 */
export function keyOf(context: IExecuteFunctions, requestFields: IDataObject, itemIndex: number): string {
  const { $runIndex: round = 0 } = context.getWorkflowDataProxy(itemIndex)
  const what = [
    context.getWorkflow().id,
    context.getExecutionId(),
    context.getNode().id,
    round,
    itemIndex,
    requestFields,
  ]
  return `n8n:${createHash('sha256').update(JSON.stringify(what)).digest('hex')}`
}
