import type { Transporter } from 'nodemailer'
import { withTimeout } from '../base/async/loop.ts'
import type { MailSettings } from '../base/smtp-address.ts'

/** A mail as it is stored and sent. */
export interface MailContent {
  to: string
  subject: string
  text: string
  html: string
  /** Stops such mails, by one POST of the mail program (RFC 8058); null for mails that someone asked for. */
  unsubscribeUrl: string | null
}

export interface OutgoingMail extends MailContent {
  /** Stays the same when a mail is repeated, so that servers and readers recognize it. */
  id: string
  createdAt: Date
}

/**
 * What became of a mail. `refused`: its recipient or content, for good. `deferred`: for now. `unreachable`: the server
 * does not answer or does not accept us, which concerns every mail.
 */
export interface SendResult {
  outcome: 'sent' | 'refused' | 'deferred' | 'unreachable'
  /** Words of the server, or what happened instead. May contain the address. */
  answer: string
  /** Status or error code, for logs. */
  code: string
}

/** Sends mails. One per process, with pooled connections. */
export interface Mailer {
  send(mail: OutgoingMail): Promise<SendResult>
  close(): void
}

/** Mails at the same time, each on a connection of its own. */
export const maxConnections = 5
const connectTimeoutMs = 10_000
/** RFC 5321 wants a client to wait long for the answer to a mail, since giving up early is what makes repeats. */
const silenceTimeoutMs = 180_000
/** All of a mail. The lease of a mail must be longer. */
export const sendTimeoutMs = 240_000
const maxAnswerLength = 300
/** Characters with a meaning in SMTP or in lists of addresses. */
const specials = /[\s\p{Cc}<>,;"]/u

/** The package is loaded, and the server first called, by the first mail. */
export function createMailer({ smtp, from }: MailSettings): Mailer {
  let opening: Promise<Transporter> | undefined
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer')
    const { host, port, security, credentials } = smtp
    return createTransport({
      pool: true,
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'off',
      ...(credentials !== null && { auth: { user: credentials.user, pass: credentials.password } }),
      maxConnections,
      // A connection that ends during a mail leaves unknown whether it was taken: our outbox decides, not the pool.
      maxRequeues: 0,
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      dnsTimeout: connectTimeoutMs,
      socketTimeout: silenceTimeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as object)
  }
  const domain = from.address.slice(from.address.indexOf('@') + 1)
  return {
    send: async ({ id, to, subject, text, html, unsubscribeUrl, createdAt }) => {
      if (specials.test(to)) return { outcome: 'refused', answer: 'The address is malformed', code: 'EENVELOPE' }
      try {
        opening ??= open()
        const transport = await opening
        const mail = {
          from,
          // As objects, which are not parsed as lists of addresses.
          to: { name: '', address: to },
          envelope: { from: from.address, to: [to] },
          messageId: `<${id}@${domain}>`,
          date: createdAt,
          subject,
          text,
          html,
          headers: {
            ...{ 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
            ...(unsubscribeUrl !== null && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
          },
          ...(unsubscribeUrl !== null && { list: { unsubscribe: unsubscribeUrl } }),
        }
        const { response } = await withTimeout(sendTimeoutMs, () => transport.sendMail(mail))
        return { outcome: 'sent', answer: cleanAnswer(String(response)), code: '250' }
      } catch (error) {
        return classifyFailure(error)
      }
    },
    close: () => {
      void opening?.then((transport) => transport.close()).catch(() => {})
    },
  }
}

interface SmtpError {
  code?: string
  responseCode?: number
  command?: string
  response?: string
  message?: string
}

/** Classifies an error of nodemailer by the step that failed and the server's status. */
export function classifyFailure(error: unknown): SendResult {
  const { code = 'unknown', responseCode, command, response, message } = error as SmtpError
  const result = (outcome: SendResult['outcome']): SendResult => ({
    outcome,
    answer: cleanAnswer(response || message || code),
    code: String(responseCode ?? code),
  })
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return result('unreachable')
  // A refused sender is a matter of our settings, so the mail waits for them to be corrected.
  if (command === 'MAIL FROM') return result('deferred')
  // Without a status the address itself is malformed. 503 is about the state of the session (RFC 5321). 421 closes the
  // connection, so it is above.
  const isPermanent = responseCode === undefined || (responseCode >= 500 && responseCode !== 503)
  return result(isPermanent ? 'refused' : 'deferred')
}

/** The words of a foreign server, on one line and short. */
const cleanAnswer = (text: string): string =>
  text
    .slice(0, 2 * maxAnswerLength)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxAnswerLength)
