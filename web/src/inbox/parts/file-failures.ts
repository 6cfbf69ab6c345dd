import { t } from '../../text/index.ts'

type Reason = Exclude<keyof typeof t.inbox.fileFailures, 'code'>

/** What stands for what, of the codes that a file may have failed with. */
const reasons: Record<string, Reason> = {
  http_404: 'lost',
  http_410: 'lost',
  '100': 'lost',
  '1006': 'lost',
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
}

/** Its state says all there is: of the last, only whoever runs the service can tell more. */
const withoutText: readonly string[] = ['too_large', 'internal']

/** Why a file is not here, in words; null where its state says all there is. */
export function fileFailure(code: string | null): string | null {
  if (code === null || withoutText.includes(code)) return null
  const reason = reasons[code]
  return reason === undefined ? t.inbox.fileFailures.code({ code }) : t.inbox.fileFailures[reason]
}
