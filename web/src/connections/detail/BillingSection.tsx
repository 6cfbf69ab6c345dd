import { Button, NumberInput, Select, type SelectProps } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Connection } from '../../data/connections.ts'
import { type Billing, type BillingSettings, changeBilling, useBilling } from '../../data/team/costs.ts'
import { t } from '../../text/index.ts'
import { currencies } from '../../ui/format/currencies.ts'
import { timeZones } from '../../ui/format/local-time.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Facts } from '../../ui/page/Facts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { Section } from '../parts/Section.tsx'
import styles from './detail.module.css'

const ownCurrencyOf = ({ connections }: Billing, { id }: Connection): string =>
  connections.find(({ connectionId }) => connectionId === id)?.currency ?? ''

/** How the platform bills the number. Most of it is the same for all numbers of the workspace. */
export function BillingSection({ connection }: { connection: Connection }) {
  const [isOpen, setOpen] = useState(false)
  const query = useBilling(useWorkspaceId())
  const texts = t.connections.billing
  return (
    <Section
      title={texts.title}
      action={
        query.data !== undefined && (
          <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
            {texts.change}
          </Button>
        )
      }
    >
      <QueryBoundary query={query} rows={2}>
        {(billing) => (
          <>
            <Facts facts={factsOf(billing, connection)} />
            <p className={styles.muted}>{texts.help}</p>
            {isOpen && <BillingPanel connection={connection} billing={billing} close={() => setOpen(false)} />}
          </>
        )}
      </QueryBoundary>
    </Section>
  )
}

function factsOf(billing: Billing, connection: Connection): [string, string][] {
  const { currency, timeZone, freeServiceMessages } = billing.settings
  const texts = t.connections.billing
  return [
    [t.costs.currency, ownCurrencyOf(billing, connection) || (currency ?? texts.cardCurrency)],
    [texts.timeZone, timeZone],
    [texts.free, formatNumber(freeServiceMessages)],
  ]
}

interface BillingDraft {
  /** Of the connection; empty: that of the workspace. */
  ownCurrency: string
  /** Of the workspace; empty: that of the rate cards. */
  currency: string
  timeZone: string
  /** Empty while it is typed. */
  freeServiceMessages: number | string
}

interface BillingPanelProps {
  connection: Connection
  billing: Billing
  close(): void
}

function BillingPanel({ connection, billing, close }: BillingPanelProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const texts = t.connections.billing
  const [known] = useState(() => draftOf(billing, connection))
  const [choices] = useState(() => ({ currencies: currencies(), zones: timeZones(known.timeZone) }))
  const draft = useDraft<BillingDraft>(known)
  const { value, set, errorOf } = draft
  const save = useMutation({
    mutationFn: () => {
      const currency = value.ownCurrency === known.ownCurrency ? {} : { currency: value.ownCurrency || null }
      return changeBilling(queries, workspaceId, connection.id, { settings: changesOf(known, value), ...currency })
    },
    onSuccess: () => {
      showToast(texts.saved)
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const withoutOwn = (label: string) => [{ value: '', label }, ...choices.currencies]
  const select = (name: 'ownCurrency' | 'currency' | 'timeZone', data: SelectProps['data'], help?: string) => (
    <Select
      label={texts[name]}
      description={help}
      data={data}
      value={value[name]}
      searchable
      allowDeselect={false}
      onChange={(chosen) => chosen !== null && set({ [name]: chosen })}
      error={errorOf(name)}
    />
  )
  return (
    <SidePanel
      title={texts.changeOf({ name: connection.name })}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />}
    >
      {select('ownCurrency', withoutOwn(texts.sameCurrency))}
      <h3 className={styles.title}>{texts.shared}</h3>
      {select('currency', withoutOwn(texts.cardCurrency))}
      {select('timeZone', choices.zones, texts.timeZoneHelp)}
      <NumberInput
        label={texts.free}
        description={texts.freeHelp}
        min={0}
        max={1_000_000}
        allowDecimal={false}
        value={value.freeServiceMessages}
        onChange={(freeServiceMessages) => set({ freeServiceMessages })}
        error={errorOf('freeServiceMessages')}
      />
    </SidePanel>
  )
}

const draftOf = (billing: Billing, connection: Connection): BillingDraft => ({
  ...billing.settings,
  currency: billing.settings.currency ?? '',
  ownCurrency: ownCurrencyOf(billing, connection),
})

/** Only what differs: the rest may have been changed by someone else since. */
function changesOf(before: BillingDraft, { currency, timeZone, freeServiceMessages }: BillingDraft) {
  return {
    ...(currency !== before.currency && { currency: currency || null }),
    ...(timeZone !== before.timeZone && { timeZone }),
    // Anything else than a number is refused with a message at the field.
    ...(freeServiceMessages !== before.freeServiceMessages && { freeServiceMessages: freeServiceMessages as number }),
  } satisfies Partial<BillingSettings>
}
