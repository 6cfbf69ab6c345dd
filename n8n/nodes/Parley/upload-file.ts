import { createHash } from 'node:crypto'
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow'
import type { FileUploaded } from '../../../client/src/agent-calls.ts'
import { sendRequest } from '../../shared/request.ts'
import { fillPath } from './fill-path.ts'

const timeoutMs = 10 * 60_000

export interface BinaryFile {
  bytes: Uint8Array
  type: string
  name: string | undefined
  digest: string
}

/** Reads the file in the binary field; undefined if no field is named. */
export async function readBinaryFile(
  context: IExecuteFunctions,
  { binary_property_name: field }: IDataObject,
  itemIndex: number,
): Promise<BinaryFile | undefined> {
  if (typeof field !== 'string') return undefined
  const { mimeType, fileName } = context.helpers.assertBinaryData(itemIndex, field)
  const bytes = await context.helpers.getBinaryDataBuffer(itemIndex, field)
  return { bytes, type: mimeType, name: fileName, digest: createHash('sha256').update(bytes).digest('hex') }
}

/** Uploads a file to the conversation; returns the fields with `upload_id` instead of the file's fields. */
export async function uploadFile(
  context: IExecuteFunctions,
  { binary_property_name: _, kind, file_name, ...fields }: IDataObject,
  { bytes, type, name }: BinaryFile,
  itemIndex: number,
): Promise<IDataObject> {
  const { conversation_id } = fields
  const { path } = fillPath(context, '/api/v2/conversations/:conversation_id/files', { conversation_id }, itemIndex)
  const called = file_name ?? name
  const query = { kind: kind ?? kindOf(type), type, ...(called !== undefined && { name: called }) }
  const call = { method: 'POST', path, query, bytes, itemIndex, timeoutMs } as const
  const { upload_id } = await sendRequest<FileUploaded>(context, 'parleyApi', call)
  return { ...fields, upload_id }
}

/** Types that the official platform displays natively; all others are sent as documents. */
const kinds: [kind: string, types: RegExp][] = [
  ['image', /^image\/(jpeg|png)\b/i],
  ['video', /^video\/(mp4|3gpp)\b/i],
  ['audio', /^audio\/(aac|amr|mpeg|mp3|mp4|m4a|x-m4a|ogg)\b/i],
]

const kindOf = (type: string): string => kinds.find(([, types]) => types.test(type))?.[0] ?? 'document'
