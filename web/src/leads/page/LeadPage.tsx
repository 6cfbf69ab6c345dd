import { Skeleton } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Lead } from '../../data/leads.ts'
import { useLiveLeads } from '../../data/leads-live.ts'
import { type ResolvedLead, useLeadOrMergeTarget } from '../../data/merges.ts'
import { usePeople } from '../../data/people.ts'
import { EraseButton } from '../../shared/EraseButton.tsx'
import { readSavedQuery } from '../../shared/lead-view/address.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PageHeader } from '../../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import visuallyHidden from '../../ui/visually-hidden.module.css'
import { useLeadActions } from '../fields/change.ts'
import { nameOf } from '../fields/lead.ts'
import { lastListQuery } from '../fields/use-address.ts'
import { useFieldContext } from '../fields/use-field-context.ts'
import { LeadButtons, LeadDetails } from '../panel/LeadDetails.tsx'
import { Timeline } from '../timeline/Timeline.tsx'
import styles from './LeadPage.module.css'

/** Page of a lead: fields on one side, timeline on the other. */
export function LeadPage() {
  const workspaceId = useWorkspaceId()
  const { leadId = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const { lead, merged, isDeleted, error, retry } = useLeadOrMergeTarget(workspaceId, leadId)
  useLiveLeads(workspaceId)
  useTitle(lead)
  const back = () => void navigate({ to: '/w/$workspaceId/leads', params: { workspaceId }, search: backSearch() })
  const open = ({ id }: Lead) =>
    void navigate({ to: '/w/$workspaceId/leads/$leadId', params: { workspaceId, leadId: id } })
  if (isDeleted) {
    const { notFound, notFoundHelp, notFoundAction } = t.leadPage
    return <EmptyState isPage title={notFound} help={notFoundHelp} action={{ label: notFoundAction, run: back }} />
  }
  return (
    <>
      <PageHeader
        title={lead === undefined ? t.leads.title : nameOf(lead)}
        before={<BackToList lead={lead} />}
        action={lead !== undefined && <Actions lead={lead} open={open} back={back} />}
      />
      {lead === undefined && error !== null && <ErrorState error={error} retry={retry} />}
      {lead === undefined && error === null && <Skeleton height={320} m={16} />}
      {lead !== undefined && <Columns key={lead.id} {...{ lead, merged, open, back }} />}
    </>
  )
}

/** Returns the query of the list that the reader came from. */
const backSearch = () => readSavedQuery(lastListQuery())

function BackToList({ lead }: { lead: Lead | undefined }) {
  const workspaceId = useWorkspaceId()
  return (
    <>
      <Link
        to="/w/$workspaceId/leads"
        params={{ workspaceId }}
        search={backSearch()}
        className={styles.back ?? ''}
        aria-label={`${t.common.back}: ${t.leadPage.backTo}`}
      >
        <IconArrowLeft size={18} />
        <span>{t.leadPage.backTo}</span>
      </Link>
      {lead !== undefined && <Avatar name={nameOf(lead)} size={28} />}
    </>
  )
}

interface ActionsProps {
  lead: Lead
  open(lead: Lead): void
  back(): void
}

function Actions({ lead, open, back }: ActionsProps) {
  const workspaceId = useWorkspaceId()
  const actions = useLeadActions(workspaceId)
  return <LeadButtons {...{ lead, actions, open }} people={usePeople(workspaceId)} leave={back} />
}

function Columns({ lead, merged, open, back }: ActionsProps & Pick<ResolvedLead, 'merged'>) {
  const actions = useLeadActions(useWorkspaceId())
  const context = useFieldContext()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <div className={styles.columns} tabIndex={0}>
      <div className={styles.facts}>
        <h2 className={visuallyHidden.hidden}>{t.leads.panel.details}</h2>
        <LeadDetails {...{ lead, merged, context, actions, open }} isPage />
        <EraseButton name={{ leadId: lead.id }} onDone={back} />
      </div>
      <div className={styles.timeline}>
        <Timeline lead={lead} people={context.people} />
      </div>
    </div>
  )
}

/** Shows the name in the title of the tab. */
function useTitle(lead: Lead | undefined): void {
  const name = lead === undefined ? null : nameOf(lead)
  useEffect(() => {
    if (name !== null) document.title = `${name} · ${t.common.product}`
  }, [name])
}
