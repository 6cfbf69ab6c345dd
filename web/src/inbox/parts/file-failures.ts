import { t } from '../../text/index.ts'

type Reason = Exclude<keyof typeof t.inbox.fileFailures, 'code'>

/** Reason for each error code of a file. */
const reasons: Record<string, Reason> = {
  http_404: 'lost',
  http_410: 'lost',
  '100': 'lost',
  '1006': 'lost',
  not_kept: 'lost',
  hash_mismatch: 'altered',
  size_mismatch: 'altered',
  empty: 'altered',
  does_not_open: 'altered',
  invalid_id: 'nowhere',
  invalid_source: 'nowhere',
  no_source: 'nowhere',
  no_address: 'nowhere',
  forbidden_address: 'forbidden',
  invalid_address: 'forbidden',
  connection_removed: 'removed',
  '190': 'account',
  http_401: 'account',
  http_403: 'account',
  invalid_api_key: 'account',
  store_full: 'store',
  store_refused: 'store',
  store_unreachable: 'store',
  not_read: 'store',
}

/** The state says enough. Of `internal`, only an operator can find out more. */
const withoutText: readonly string[] = ['too_large', 'internal']

/** Returns why a file is unavailable; null if the state says enough. */
export function fileFailure(code: string | null): string | null {
  if (code === null || withoutText.includes(code)) return null
  const reason = reasons[code]
  return reason === undefined ? t.inbox.fileFailures.code({ code }) : t.inbox.fileFailures[reason]
}
