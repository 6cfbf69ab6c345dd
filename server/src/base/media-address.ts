import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where files are stored: a folder of this machine or a bucket. */
export type MediaAddress = { kind: 'folder'; folder: string } | S3Address

export interface S3Address {
  kind: 's3'
  bucket: string
  /** Prefix of every key: empty, or ends with a slash. */
  prefix: string
  /** URL of an S3-compatible store; null for Amazon S3. */
  endpoint: string | null
  region: string
  /** Null lets the client find credentials. */
  credentials: S3Credentials | null
}

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

/** Values of `AWS_ACCESS_KEY_ID` and related variables. */
export interface AwsVariables {
  accessKeyId: string | null
  secretAccessKey: string | null
  sessionToken: string | null
  region: string | null
}

const maxUrlLength = 2048
const urlForms = 'must be file:///a/folder or s3://bucket/prefix?region=…'

/** Why an address is invalid, as a text that follows the name of its setting and repeats no value. */
export class MediaAddressError extends Error {}

/** Parses `file:///folder` and `s3://bucket/prefix?region=…&endpoint=…`. Keys come only from the variables. */
export function parseMediaUrl(text: string, aws: AwsVariables): MediaAddress {
  const url = text.length <= maxUrlLength && URL.canParse(text) ? new URL(text) : null
  if (url?.protocol === 'file:') return { kind: 'folder', folder: parseFolder(url) }
  if (url?.protocol === 's3:') return parseBucket(url, aws)
  throw new MediaAddressError(urlForms)
}

function parseFolder(url: URL): string {
  if (url.hostname !== '' || url.search !== '' || url.hash !== '') {
    throw new MediaAddressError('must name only a folder of this machine: file:///a/folder')
  }
  const folder = resolve(fileURLToPath(url))
  if (folder === resolve('/')) throw new MediaAddressError('must name a folder, not the root of the disk')
  return folder
}

function parseBucket(url: URL, aws: AwsVariables): S3Address {
  if (url.username !== '' || url.password !== '') {
    throw new MediaAddressError('must not contain keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'region' && name !== 'endpoint')
  if (unknown !== undefined || url.hash !== '' || url.port !== '') {
    throw new MediaAddressError('may have only ?region=… and endpoint=… after the prefix')
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname)) {
    throw new MediaAddressError(
      'must name a bucket: s3://bucket, with 3 to 63 lower-case letters, digits, dots and hyphens',
    )
  }
  const prefix = url.pathname.replace(/^\//, '').replace(/\/$/, '')
  if (!/^(?:[A-Za-z0-9_.-]{1,100}(?:\/[A-Za-z0-9_.-]{1,100}){0,9})?$/.test(prefix)) {
    throw new MediaAddressError('must have a prefix of letters, digits, dots, hyphens, underscores and single slashes')
  }
  const endpoint = parseEndpoint(url.searchParams.get('endpoint'))
  const region = url.searchParams.get('region') ?? aws.region ?? (endpoint === null ? '' : defaultRegion)
  if (!/^[a-z0-9-]{1,40}$/.test(region)) {
    throw new MediaAddressError('needs a region: add ?region=…, or set AWS_REGION')
  }
  return {
    kind: 's3',
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region,
    credentials: readCredentials(aws),
  }
}

/** Accepted by most S3-compatible stores. */
const defaultRegion = 'us-east-1'

function parseEndpoint(text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.search === ''
  if (!isPlain) throw new MediaAddressError('must have an endpoint like https://s3.example.com, without keys')
  return url.href
}

function readCredentials({ accessKeyId, secretAccessKey, sessionToken }: AwsVariables): S3Credentials | null {
  if (accessKeyId === null && secretAccessKey === null) return null
  if (accessKeyId === null || secretAccessKey === null) {
    throw new MediaAddressError('needs both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither')
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken !== null && { sessionToken }) }
}
