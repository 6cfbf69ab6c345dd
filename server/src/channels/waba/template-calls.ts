import type { WabaConnection } from '../connection/connection.ts'
import type { CreatedTemplate, TemplateCallFailure, TemplateManager } from '../templates/template-manager.ts'
import { normalizeLanguage } from '../templates/templates.ts'
import { readToEnd } from './cloud-media.ts'
import { parseError } from './errors.ts'
import { type JsonObject, listOf, objectOf, parseJson, textOf, tokenOf } from './json.ts'
import { bearer, type CallResult, callPlatform, type PlatformHttp } from './platform-call.ts'
import { templateFields } from './templates.ts'

const timeoutMs = 20_000
const uploadIdleMs = 60_000
const maxAnswerBytes = 64 * 1024
/** Languages of one name: the platform has about 75. */
const maxLanguages = 200

const noAccount: TemplateCallFailure = { ok: false, outcome: 'no_account', errorCode: '', message: null }

/** Templates of the official platform. */
export function wabaTemplates(http: PlatformHttp): TemplateManager<WabaConnection> {
  const call = (
    { settings }: WabaConnection,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: JsonObject,
  ): Promise<CallResult> =>
    callPlatform(http, {
      method,
      url: `${settings.baseUrl}/${settings.version}/${path}`,
      headers: bearer(settings.accessToken),
      ...(body !== undefined && { body }),
      timeoutMs,
    })
  return {
    find: async (connection, name, language) => {
      if (connection.accountId === null) return noAccount
      const query = `name=${encodeURIComponent(name)}&fields=${templateFields}&limit=${maxLanguages}`
      const answer = await call(connection, 'GET', `${listPath(connection.accountId)}?${query}`)
      const body = successOf(answer)
      if (body === null) return failureOf(answer)
      const listed = listOf(body.data).map(objectOf)
      // The platform's filter also finds names that only begin with it.
      const found = listed.find(
        (one) => one.name === name && normalizeLanguage(textOf(one.language) ?? '') === language,
      )
      return { ok: true, template: found ?? null }
    },
    create: async (connection, { name, language, category, format, components }) => {
      if (connection.accountId === null) return noAccount
      const body = { name, language, category, parameter_format: format, allow_category_change: true, components }
      const answer = await call(connection, 'POST', listPath(connection.accountId), body)
      return createdFrom(answer, category)
    },
    edit: async (connection, externalId, { category, components }) => {
      const body = { components, ...(category !== null && { category }) }
      const answer = await call(connection, 'POST', encodeURIComponent(externalId), body)
      return successOf(answer) === null ? failureOf(answer) : { ok: true }
    },
    remove: async (connection, { name, externalId }) => {
      if (connection.accountId === null) return noAccount
      const query = `hsm_id=${encodeURIComponent(externalId)}&name=${encodeURIComponent(name)}`
      const answer = await call(connection, 'DELETE', `${listPath(connection.accountId)}?${query}`)
      return successOf(answer) === null ? failureOf(answer) : { ok: true }
    },
    uploadSample: async (connection, file, signal) => {
      // `app` stands for the app of the access token.
      const app = encodeURIComponent(connection.settings.appId ?? 'app')
      const query = new URLSearchParams({
        file_name: file.name ?? 'sample',
        file_length: String(file.size),
        file_type: file.mimeType,
      })
      const started = await call(connection, 'POST', `${app}/uploads?${query}`)
      const session = textOf(successOf(started)?.id)
      if (session === null || !sessionShape.test(session)) return failureOf(started)
      return sendFile(http, connection, session, file, signal)
    },
  }
}

const listPath = (accountId: string): string => `${encodeURIComponent(accountId)}/message_templates`

/** The session is part of the path, with a signature in the query. */
const sessionShape = /^upload:[\w:=?&.%~+-]{1,2000}$/

async function sendFile(
  { outgoing }: PlatformHttp,
  { settings }: WabaConnection,
  session: string,
  { mimeType, size, bytes }: Parameters<TemplateManager['uploadSample']>[1],
  signal: AbortSignal,
): ReturnType<TemplateManager['uploadSample']> {
  const answer = await outgoing.stream({
    method: 'POST',
    url: `${settings.baseUrl}/${settings.version}/${session}`,
    headers: {
      authorization: `OAuth ${settings.accessToken}`,
      accept: 'application/json',
      'content-type': mimeType,
      file_offset: '0',
    },
    body: { bytes: bytes(), length: size },
    idleTimeoutMs: uploadIdleMs,
    maxAnswerBytes,
    signal,
  })
  // A handle that nobody has heard of has no effect: trying again is safe.
  const failed = { ok: false, outcome: 'failed', message: null } as const
  if (answer.outcome === 'failed') return { ...failed, errorCode: answer.code }
  const text = await readToEnd(answer)
  if (text === null) return { ...failed, errorCode: 'answer' }
  const result: CallResult = { outcome: 'answered', status: answer.status, body: text }
  const handle = textOf(successOf(result)?.h)
  return handle === null || handle.length > maxHandleLength ? failureOf(result) : { ok: true, handle }
}

const maxHandleLength = 8192

function createdFrom(answer: CallResult, category: string): CreatedTemplate | TemplateCallFailure {
  const body = successOf(answer)
  const externalId = tokenOf(body?.id)
  if (body === null) return failureOf(answer)
  if (externalId === null) return { ok: false, outcome: 'unknown', errorCode: 'no_template_id', message: null }
  const status = textOf(body.status)?.toUpperCase() ?? 'PENDING'
  return { ok: true, externalId, status, category: textOf(body.category)?.toUpperCase() ?? category }
}

function successOf(answer: CallResult): JsonObject | null {
  if (answer.outcome !== 'answered' || answer.status < 200 || answer.status >= 300) return null
  const body = objectOf(parseJson(answer.body))
  return body.success === false || Object.keys(body).length === 0 ? null : body
}

/** Returns what a failed call means. An answer that cannot be read says nothing about what was done. */
function failureOf(answer: CallResult): TemplateCallFailure {
  if (answer.outcome !== 'answered') {
    const outcome = answer.outcome === 'lost' ? 'unknown' : 'failed'
    return { ok: false, outcome, errorCode: answer.code, message: null }
  }
  const body = parseJson(answer.body)
  const error = parseError(body)
  if (error === null || (answer.status >= 500 && error.code < 100)) {
    return { ok: false, outcome: 'unknown', errorCode: `http_${answer.status}`, message: null }
  }
  const errorCode = String(error.subcode ?? error.code)
  return { ok: false, outcome: 'refused', errorCode, message: explanationOf(objectOf(body)) }
}

const maxMessageLength = 500

/** Returns the platform's explanation: the text for people if there is one, on one line. */
function explanationOf(body: JsonObject): string | null {
  const error = objectOf(body.error)
  const { error_user_title: title, error_user_msg: text, message } = error
  const forPeople = [textOf(title), textOf(text)].filter((words) => words !== null).join(': ')
  const found = forPeople || (textOf(objectOf(error.error_data).details) ?? textOf(message) ?? '')
  const cleaned = found
    .slice(0, 4 * maxMessageLength)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return cleaned.slice(0, maxMessageLength).toWellFormed() || null
}
