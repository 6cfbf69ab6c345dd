import {
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow'
import { type RequestOptions, sendRequest } from '../../shared/request.ts'
import { fillPath } from './fill-path.ts'
import { loadOptions } from './load-options.ts'
import type { Operation } from './operations/operation.ts'
import { allProperties, operations } from './operations/properties.ts'
import { keyOf, readFields } from './read-fields.ts'
import { readBinaryFile, uploadFile } from './upload-file.ts'

const pageSize = 50

export class Parley implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Parley',
    name: 'parley',
    icon: { light: 'file:parley.svg', dark: 'file:parley.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: 'Answer customers, hand conversations over to people, and manage leads in Parley',
    defaults: { name: 'Parley' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'parleyApi', required: true }],
    properties: allProperties(),
  }

  methods = { loadOptions }

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const all: INodeExecutionData[] = []
    for (const item of this.getInputData().keys()) {
      const running = executeOperation(this, item)
      const found = await (this.continueOnFail() ? running.catch((error: Error) => [toErrorItem(error)]) : running)
      all.push(...found.map((json) => ({ json, pairedItem: { item } })))
    }
    return [all]
  }
}

async function executeOperation(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject[]> {
  const operation = operationOf(context, itemIndex)
  const filled = readFields(context, operation, itemIndex)
  const file = await readBinaryFile(context, filled, itemIndex)
  // Each attempt has an upload of its own, so the key uses the file's digest.
  const key = operation.hasIdempotencyKey && keyOf(context, { ...filled, digest: file?.digest }, itemIndex)
  const fields = file === undefined ? filled : await uploadFile(context, filled, file, itemIndex)
  const requestFields = { ...(key && { idempotency_key: key }), ...(operation.toRequest?.(fields) ?? fields) }
  const { path, rest } = fillPath(context, operation.path, requestFields, itemIndex)
  const call = { method: operation.method, path: `/api/v2${path}`, itemIndex }
  if (operation.isPaged) return pages(context, operation, { ...call, query: rest })
  const options = { ...call, [operation.method === 'GET' ? 'query' : 'body']: rest }
  const answer = await sendRequest<IDataObject>(context, 'parleyApi', options)
  return operation.list === undefined ? [answer] : listIn(answer, operation.list)
}

function operationOf(context: IExecuteFunctions, itemIndex: number): Operation {
  const [resource, value] = ['resource', 'operation'].map((name) => String(context.getNodeParameter(name, itemIndex)))
  const found = operations.find((operation) => operation.resource === resource && operation.value === value)
  if (found === undefined)
    throw new NodeOperationError(context.getNode(), `A ${resource} has no operation ${value}`, { itemIndex })
  return found
}

async function pages(
  context: IExecuteFunctions,
  { list = '' }: Operation,
  call: RequestOptions,
): Promise<IDataObject[]> {
  const itemIndex = call.itemIndex ?? 0
  const isAll = context.getNodeParameter('returnAll', itemIndex, false) === true
  const maxItems = isAll ? Number.POSITIVE_INFINITY : Number(context.getNodeParameter('limit', itemIndex, pageSize))
  const found: IDataObject[] = []
  let cursor: unknown
  do {
    const limit = Math.min(pageSize, maxItems - found.length)
    const query = { ...call.query, limit, ...(typeof cursor === 'string' && { cursor }) }
    const answer = await sendRequest<IDataObject>(context, 'parleyApi', { ...call, query })
    found.push(...listIn(answer, list))
    cursor = answer.next_cursor
  } while (cursor && found.length < maxItems)
  return found
}

const listIn = (answer: IDataObject, name: string): IDataObject[] => (answer[name] ?? []) as IDataObject[]

/** Returns the output item of a failed operation with "On Error → Continue": enough to branch on. */
function toErrorItem(error: Error): IDataObject {
  const details = error instanceof NodeApiError ? error.context.parley : undefined
  return { error: error.message, ...(details as IDataObject | undefined) }
}
