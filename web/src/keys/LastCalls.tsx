import { type KeyCall, useKeyCalls } from '../data/keys.ts'
import { t } from '../text/index.ts'
import { Chip, type Tone } from '../ui/Chip.tsx'
import { formatDateTimeSeconds, formatNumber } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './LastCalls.module.css'

/** Recent calls of a key and their results, to debug integrations. */
export function LastCalls({ keyId }: { keyId: string }) {
  const texts = t.keys.calls
  const query = useKeyCalls(useWorkspaceId(), keyId)
  return (
    <Section title={texts.title} help={texts.help}>
      <QueryBoundary query={query} rows={3}>
        {(calls) =>
          calls.length === 0 ? (
            <p>{texts.none}</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
            <div className={styles.wide} tabIndex={0}>
              <Table label={texts.title} columns={columns()} rows={numbered(calls)} keyOf={({ key }) => key} />
            </div>
          )
        }
      </QueryBoundary>
    </Section>
  )
}

interface Row extends KeyCall {
  key: string
}

// Numbered from the oldest, so that keys stay stable when a call is added.
const numbered = (calls: readonly KeyCall[]): Row[] =>
  calls.map((call, n) => ({ ...call, key: `${call.at} ${calls.length - n}` }))

function columns(): Column<Row>[] {
  const texts = t.keys.calls
  return [
    {
      key: 'call',
      title: texts.call,
      cell: ({ verb, method, route }) => <code>{verb ?? `${method} ${route}`}</code>,
      long: true,
    },
    { key: 'status', title: texts.status, cell: ({ status }) => <Chip tone={toneOf(status)}>{status}</Chip> },
    {
      key: 'ms',
      title: texts.took,
      cell: ({ ms }) => t.keys.calls.ms({ ms: formatNumber(ms) }),
      numeric: true,
      whole: true,
      optional: true,
    },
    { key: 'at', title: texts.when, cell: ({ at }) => <time dateTime={at}>{formatDateTimeSeconds(at)}</time> },
  ]
}

const toneOf = (status: number): Tone => (status < 400 ? 'good' : status < 500 ? 'attention' : 'bad')
