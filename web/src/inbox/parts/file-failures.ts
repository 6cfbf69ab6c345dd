import { t } from '../../text/index.ts'
import { reasonFor } from './reason-for.ts'

type Reason = Exclude<keyof typeof t.inbox.fileFailures, 'code'>

/** Error codes of each reason. */
const fileFailureCodes: Record<Reason, readonly string[]> = {
  lost: ['http_404', 'http_410', '100', '1006', 'not_kept'],
  altered: ['hash_mismatch', 'size_mismatch', 'empty', 'does_not_open'],
  nowhere: ['invalid_id', 'invalid_source', 'no_source', 'no_address'],
  forbidden: ['forbidden_address', 'invalid_address'],
  removed: ['connection_removed'],
  account: ['190', 'http_401', 'http_403', 'invalid_api_key'],
  store: ['store_full', 'store_refused', 'store_unreachable', 'not_read'],
}

/** The state says enough. Of `internal`, only an operator can find out more. */
const withoutText: readonly string[] = ['too_large', 'internal']

/** Returns why a file is unavailable; null if the state says enough. */
export function fileFailure(code: string | null): string | null {
  if (code === null || withoutText.includes(code)) return null
  const reason = reasonFor(fileFailureCodes, code)
  return reason === undefined ? t.inbox.fileFailures.code({ code }) : t.inbox.fileFailures[reason]
}
