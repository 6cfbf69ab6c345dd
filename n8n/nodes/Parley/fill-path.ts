import { type IDataObject, type IExecuteFunctions, NodeOperationError } from 'n8n-workflow'

/** The path with the fields that it names, and all other fields. */
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
    throw new NodeOperationError(context.getNode(), `${name} is empty: look at the expression that fills it`, {
      itemIndex,
    })
  })
  return { path, rest }
}
