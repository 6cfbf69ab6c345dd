import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef } from 'react'
import type { Delivery } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTimeSeconds } from '../../ui/format/time.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { deliveryTones, resultText, stateName } from '../webhook-texts.ts'
import styles from './DeliveryList.module.css'

interface DeliveryListProps {
  deliveries: Delivery[]
  /** Loads older deliveries; does nothing if there are none. */
  more(): void
  open?: (eventId: string) => void
}

const rowHeight = 44

export function DeliveryList({ deliveries, more, open }: DeliveryListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: deliveries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (n) => deliveries[n]?.eventId ?? n,
    overscan: 12,
  })
  const shown = rows.getVirtualItems()
  const isAtEnd = (shown.at(-1)?.index ?? -1) >= deliveries.length - 1
  useEffect(() => {
    if (isAtEnd) more()
  })
  useRowKeys(scroller)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <div ref={scroller} className={styles.scroller} tabIndex={0}>
      <ul className={styles.list} aria-label={t.webhooks.deliveries} style={{ height: rows.getTotalSize() }}>
        {shown.map(({ key, index, start }) => {
          const delivery = deliveries[index]
          if (delivery === undefined) return null
          return (
            <li
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className={styles.item}
              aria-setsize={deliveries.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
            >
              {open === undefined ? (
                <div className={styles.row}>
                  <Cells delivery={delivery} />
                </div>
              ) : (
                <button type="button" className={styles.row} onClick={() => open(delivery.eventId)}>
                  <Cells delivery={delivery} />
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function Cells({ delivery }: { delivery: Delivery }) {
  const { state, event, occurredAt, attempts, lastAttempt } = delivery
  return (
    <>
      <span className={styles.state}>
        <Chip tone={deliveryTones[state]}>{stateName(delivery)}</Chip>
      </span>
      <span className={styles.event}>
        {t.webhooks.eventNames[event]} <code>{event}</code>
      </span>
      <span className={styles.when}>{formatDateTimeSeconds(occurredAt)}</span>
      <span className={styles.result} title={lastAttempt?.explanation ?? undefined}>
        {resultText(lastAttempt)}
      </span>
      <span className={styles.attempts}>{t.webhooks.attemptsCount({ count: attempts })}</span>
    </>
  )
}

function useRowKeys(scroller: { current: HTMLElement | null }): void {
  const keys = useMemo(() => {
    const move = (by: number) => {
      const rows = [...(scroller.current?.querySelectorAll('button') ?? [])]
      const at = document.activeElement instanceof HTMLButtonElement ? rows.indexOf(document.activeElement) : -1
      rows[at < 0 ? 0 : at + by]?.focus()
    }
    return [
      { keys: 'j', label: t.webhooks.next, run: () => move(1) },
      { keys: 'k', label: t.webhooks.previous, run: () => move(-1) },
    ]
  }, [scroller])
  useShortcuts(t.webhooks.deliveries, keys)
}
