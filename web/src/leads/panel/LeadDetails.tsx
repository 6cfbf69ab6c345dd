import { ActionIcon, Button } from '@mantine/core'
import { IconArrowMerge, IconMessage, IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { useConnections } from '../../data/connections.ts'
import { type Consent, type ConsentPurpose, setLeadConsent, useLeadConsent } from '../../data/lead/consents.ts'
import { type Lead, useConversations } from '../../data/leads.ts'
import { type ResolvedLead, useMerges } from '../../data/merges.ts'
import type { People } from '../../data/people.ts'
import { type LeadTouch, useLeadAttribution } from '../../data/team/lead-sources.ts'
import { MarketingConsent } from '../../shared/MarketingConsent.tsx'
import { LeadSequences } from '../../shared/sequences/LeadSequences.tsx'
import { TaskList } from '../../shared/tasks/TaskList.tsx'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatPhone } from '../../ui/format/phone.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { Facts } from '../../ui/page/Facts.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { nameOf } from '../fields/lead.ts'
import { LeadLabels } from '../labels/LeadLabels.tsx'
import { MergeButton } from '../merge/MergeButton.tsx'
import mergeStyles from '../merge/merge.module.css'
import { goTo, InboxLink } from '../message/InboxLink.tsx'
import { CustomFields } from './CustomFields.tsx'
import { Duplicates } from './Duplicates.tsx'
import { LeadFields } from './LeadFields.tsx'
import styles from './LeadPanel.module.css'

interface LeadDetailsProps extends Pick<ResolvedLead, 'merged'> {
  lead: Lead
  context: FieldContext
  actions: LeadActions
  open(lead: Lead): void
  /** On the page of a lead, further phones come directly below its fields. */
  isPage?: boolean
}

/** All that is known about a lead, but its timeline. */
export function LeadDetails({ lead, merged, context, actions, open, isPage = false }: LeadDetailsProps) {
  return (
    <>
      <MergedInto merged={merged} />
      <Duplicates lead={lead} people={context.people} open={open} />
      <LeadLabels lead={lead} />
      <LeadFields lead={lead} context={context} actions={actions} />
      <CustomFields lead={lead} currency={context.currency} actions={actions} />
      {isPage && <AlsoFoundBy leadId={lead.id} />}
      <LeadConsent lead={lead} />
      <LeadOrigin leadId={lead.id} />
      {!isPage && <AlsoFoundBy leadId={lead.id} />}
      <LeadConversations lead={lead} people={context.people} />
      <Named title={t.tasks.title}>
        <TaskList about={{ leadId: lead.id }} />
      </Named>
      <LeadSequences leadId={lead.id} section={(content) => <Named title={t.sequences.title}>{content}</Named>} />
    </>
  )
}

interface LeadButtonsProps extends Pick<LeadDetailsProps, 'lead' | 'actions' | 'open'> {
  people: People
  /** Goes back to the list, before the lead is deleted. */
  leave(): void
  children?: ReactNode
}

/** Buttons to write to a lead, to merge it and to delete it. */
export function LeadButtons({ lead, people, actions, open, leave, children }: LeadButtonsProps) {
  const known = { id: lead.id, name: nameOf(lead) }
  const remove = () => {
    leave()
    void actions.remove([known])
  }
  return (
    <>
      <MessageButton lead={lead} />
      {children}
      <MergeButton lead={known} otherId={null} people={people} onMerged={open} />
      <ActionIcon variant="subtle" color="gray" onClick={remove} aria-label={t.common.delete}>
        <IconTrash size={16} />
      </ActionIcon>
    </>
  )
}

/** Explains that the requested lead was merged into this one. */
function MergedInto({ merged }: Pick<ResolvedLead, 'merged'>) {
  if (merged === null) return null
  return (
    <p className={mergeStyles.here} role="status">
      <IconArrowMerge size={16} aria-hidden />
      <span dir="auto">{merged.name === null ? t.merge.fromUnknown : t.merge.fromName({ name: merged.name })}</span>
    </p>
  )
}

/** Additional phones and e-mails of a lead from merges; renders nothing without any. */
function AlsoFoundBy({ leadId }: { leadId: string }) {
  const { data, error, refetch } = useMerges(useWorkspaceId(), leadId)
  if (error !== null) return <ErrorState error={error} retry={() => void refetch()} />
  const contacts = data === undefined ? [] : [...data.otherPhones.map(formatPhone), ...data.otherEmails]
  if (contacts.length === 0) return null
  return (
    <p className={mergeStyles.muted}>
      {t.merge.foundBy}: {contacts.join(', ')}
    </p>
  )
}

function Named({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className={styles.heading}>{title}</h3>
      {children}
    </section>
  )
}

/** What the person has decided about messages; nothing without a phone, to which they would be sent. */
function LeadConsent({ lead: { id, phone } }: { lead: Lead }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const { data } = useLeadConsent(workspaceId, id, phone)
  if (phone === null || data === undefined) return null
  const partOf = (purpose: ConsentPurpose, title: string, consent: Consent | null) => (
    <Named title={title}>
      <MarketingConsent
        purpose={purpose}
        consent={consent}
        set={(decision) => setLeadConsent(queries, workspaceId, id, decision, purpose)}
        undo={() => void setLeadConsent(queries, workspaceId, id, 'undo', purpose)}
      />
    </Named>
  )
  return (
    <>
      {partOf('marketing', t.consent.title, data.current)}
      {partOf('utility', t.consent.updates.title, data.utility)}
    </>
  )
}

const shownFields = [
  ...(['source', 'medium', 'campaign', 'content', 'term', 'adName', 'adSet', 'adId', 'formId'] as const),
  ...(['url', 'fbclid', 'gclid', 'ctwaClid'] as const),
] as const

/** How the lead came, the first and the last time; nothing if that is not known. */
function LeadOrigin({ leadId }: { leadId: string }) {
  const { data } = useLeadAttribution(useWorkspaceId(), leadId)
  const texts = t.leadPage.attribution
  if (data === undefined || data.first === null || data.last === null) return null
  const isOne = data.first.at === data.last.at
  return (
    <section aria-label={texts.title}>
      <h3 className={styles.heading}>{isOne ? texts.title : texts.first}</h3>
      <Facts facts={factsOf(data.first)} />
      {!isOne && (
        <>
          <h3 className={styles.heading}>{texts.last}</h3>
          <Facts facts={factsOf(data.last)} />
        </>
      )}
    </section>
  )
}

function factsOf(touch: LeadTouch): [string, string][] {
  const texts = t.leadPage.attribution
  return [
    [texts.channel, texts.channels[touch.channel]],
    [texts.at, formatDateTime(touch.at)],
    ...shownFields.flatMap((field): [string, string][] => {
      const value = touch[field]
      return typeof value === 'string' ? [[texts.fields[field], value]] : []
    }),
  ]
}

/** Conversations with the lead's number. */
function LeadConversations({ lead, people }: { lead: Lead; people: People }) {
  const workspaceId = useWorkspaceId()
  const { data } = useConversations(workspaceId, lead.id, lead.phone)
  const { data: connections = [] } = useConnections(workspaceId)
  return (
    <section>
      <h3 className={styles.heading}>{t.leads.panel.conversations}</h3>
      {data?.length === 0 && <p className={styles.muted}>{t.leads.panel.conversationsEmpty}</p>}
      {data?.map(({ id, connectionId, owner, lastMessage, lastMessageAt }) => (
        <InboxLink key={id} className={styles.conversation} href={`/w/${workspaceId}/inbox/${id}`}>
          <span className={styles.line}>
            <strong>{connections.find((one) => one.id === connectionId)?.name ?? t.common.unknown}</strong>
            {owner.startsWith('agent:') && <Chip tone="agent">{people.nameOf(owner.slice('agent:'.length))}</Chip>}
            <time className={styles.muted} dateTime={lastMessageAt}>
              {formatShortTime(lastMessageAt)}
            </time>
          </span>
          {lastMessage !== null && (
            <span className={styles.muted} dir="auto">
              {lastMessage.direction === 'outbound' ? t.leads.panel.you({ text: lastMessage.text }) : lastMessage.text}
            </span>
          )}
        </InboxLink>
      ))}
    </section>
  )
}

const StartConversation = lazyComponent(() => import('../message/StartConversation.tsx'))

/**
 * Writes to a lead: in the existing conversation, where the inbox knows whether a template is required, or in a new
 * one.
 */
function MessageButton({ lead }: { lead: Lead }) {
  const workspaceId = useWorkspaceId()
  const { data: conversations } = useConversations(workspaceId, lead.id, lead.phone)
  const [isStarting, setStarting] = useState(false)
  // The newest, where people would look for it.
  const existing = conversations?.[0]?.id
  const isKnown = conversations !== undefined || lead.phone === null
  const keys = useMemo(() => {
    const run = () => {
      if (existing !== undefined) goTo(`/w/${workspaceId}/inbox/${existing}`)
      else if (isKnown) setStarting(true)
    }
    return [{ keys: 'm', label: t.leadPage.message, run }]
  }, [existing, isKnown, workspaceId])
  useShortcuts(t.leads.keys.group, keys)
  return (
    <>
      <Button
        flex="none"
        size="compact-sm"
        variant="default"
        leftSection={<IconMessage size={14} />}
        disabled={!isKnown}
        onClick={() => keys[0]?.run()}
      >
        {t.leadPage.message}
      </Button>
      {isStarting && <StartConversation lead={lead} close={() => setStarting(false)} />}
    </>
  )
}
