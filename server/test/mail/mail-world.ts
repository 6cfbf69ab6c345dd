import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { parseSmtpUrl } from '../../src/base/smtp-address.ts'
import { createMailer } from '../../src/mail/mailer.ts'
import { createMailSender } from '../../src/mail/send-mails.ts'
import { atEnd, oncePerFile } from '../support/file-lifecycle.ts'
import { servedApp, testApp } from '../support/world.ts'

export const sender = { name: 'Parley', address: 'parley@example.com' }

type Step = 'connect' | 'recipient' | 'data'

/** An answer of a mail server other than success. */
export const smtpError = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

/** Starts a mail server on loopback. Accepts everything, until `respond` answers a step with an error. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const received: ParsedMail[] = []
  const control = { respond: async (_step: Step, _address: string): Promise<Error | null> => null }
  const answer = (step: Step, address: string, callback: (error?: Error | null) => void) =>
    void control.respond(step, address).then(callback)
  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    closeTimeout: 100,
    onConnect: (_session, callback) => answer('connect', '', callback),
    onRcptTo: ({ address }, _session, callback) => answer('recipient', address, callback),
    onData: (stream, { envelope }, callback) => {
      // Read before the answer, as a server that refuses a mail for its content does.
      const read = simpleParser(stream).then(async (mail) => {
        const error = await control.respond('data', envelope.rcptTo[0]?.address ?? '')
        if (error === null) received.push(mail)
        callback(error)
      })
      // A client that was killed meanwhile.
      read.catch(callback)
    },
    ...options,
  })
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  atEnd(close)
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    received,
    /** Returns the mails since the last call. */
    take: () => received.splice(0),
    control,
    close,
  }
}

export function mailerFor(url: string) {
  const smtp = parseSmtpUrl(url)
  if (typeof smtp === 'string') throw new Error(smtp)
  const mailer = createMailer({ smtp, from: sender })
  atEnd(async () => mailer.close())
  return mailer
}

/** The service of this test file with a mail server; one per file. */
export const mailWorld = oncePerFile(async () => {
  const test = await testApp()
  const server = await startMailServer()
  const mailer = mailerFor(server.url)
  const runtime = { ...test, mailer }
  const app = await servedApp(runtime)
  return { ...runtime, app, server, sendDue: createMailSender(runtime) }
})

/** Returns the first link of a mail. */
export const linkIn = (mail: ParsedMail | undefined): string => /http:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? ''
