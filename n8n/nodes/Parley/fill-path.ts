import { type IDataObject, type IExecuteFunctions, NodeOperationError } from 'n8n-workflow'

/** Fills in the parameters of the path; returns the path and the remaining fields. */
export function fillPath(
  context: IExecuteFunctions,
  pattern: string,
  fields: IDataObject,
  itemIndex: number,
): { path: string; rest: IDataObject } {
  const rest = { ...fields }
  const path = pattern.replace(/:(\w+)/g, (_all, name: string) => {
    const value = String(rest[name] ?? '').trim()
    delete rest[name]
    if (value !== '') return encodeURIComponent(value)
    throw new NodeOperationError(context.getNode(), `${name} is empty: check the expression that sets it`, {
      itemIndex,
    })
  })
  return { path, rest }
}
