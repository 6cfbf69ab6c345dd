import { IconChevronLeft } from '@tabler/icons-react'
import { Link, useParams } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { ApiError } from '../api/api-error.ts'
import { t } from '../text/index.ts'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { AboutSection } from './AboutSection.tsx'
import { AgentsSection } from './AgentsSection.tsx'
import { AuditSection } from './audit/AuditSection.tsx'
import { AutomationSection } from './automation/AutomationSection.tsx'
import { FiltersSection } from './FiltersSection.tsx'
import { FieldsSection } from './fields/FieldsSection.tsx'
import { GoalsSection } from './goals/GoalsSection.tsx'
import { HoursSection } from './hours/HoursSection.tsx'
import { InstructionsSection } from './instructions/InstructionsSection.tsx'
import { LabelsSection } from './LabelsSection.tsx'
import { MembersSection } from './MembersSection.tsx'
import { RepliesSection } from './RepliesSection.tsx'
import { RetentionSection } from './RetentionSection.tsx'
import { RoutingSection } from './routing/RoutingSection.tsx'
import styles from './SettingsPage.module.css'
import { SatisfactionSection } from './satisfaction/SatisfactionSection.tsx'
import { findSection, mayOpen, openSections, type SectionName } from './sections.ts'
import { SourcesSection } from './sources/SourcesSection.tsx'
import { SignOnSection } from './sso/SignOnSection.tsx'
import { TokensSection } from './TokensSection.tsx'
import { WorkspaceSection } from './WorkspaceSection.tsx'
import { WorkspacesSection } from './WorkspacesSection.tsx'

const contents: Record<SectionName, ComponentType> = {
  workspace: WorkspaceSection,
  hours: HoursSection,
  goals: GoalsSection,
  members: MembersSection,
  routing: RoutingSection,
  fields: FieldsSection,
  labels: LabelsSection,
  replies: RepliesSection,
  filters: FiltersSection,
  automation: AutomationSection,
  satisfaction: SatisfactionSection,
  sources: SourcesSection,
  agents: AgentsSection,
  instructions: InstructionsSection,
  tokens: TokensSection,
  retention: RetentionSection,
  audit: AuditSection,
  workspaces: WorkspacesSection,
  sso: SignOnSection,
  about: AboutSection,
}

/** Settings of a workspace in sections, each with its own address. */
export function SettingsPage() {
  const workspaceId = useWorkspaceId()
  const { section: chosen } = useParams({ strict: false })
  const name = chosen ?? 'workspace'
  return (
    <>
      <PageHeader
        title={t.settings.title}
        before={
          chosen !== undefined && (
            <Link
              to="/w/$workspaceId/settings"
              params={{ workspaceId }}
              className={styles.back}
              aria-label={t.common.back}
            >
              <IconChevronLeft size={20} />
            </Link>
          )
        }
      />
      <div className={styles.layout} data-chosen={chosen !== undefined || undefined}>
        <nav className={styles.nav} aria-label={t.settings.navigation}>
          {openSections(workspaceId).map((one) => (
            <Link
              key={one.name}
              to="/w/$workspaceId/settings/$section"
              params={{ workspaceId, section: one.name }}
              className={styles.link}
              data-active={one.name === name || undefined}
              aria-current={one.name === name ? 'page' : undefined}
            >
              <one.icon size={16} />
              {t.settings.sections[one.name].title}
            </Link>
          ))}
        </nav>
        <div className={styles.section}>
          <PageBody narrow key={name}>
            <Content name={name} />
          </PageBody>
        </div>
      </div>
    </>
  )
}

function Content({ name }: { name: string }) {
  const workspaceId = useWorkspaceId()
  const section = findSection(name)
  if (section === undefined) return <ErrorState error={new ApiError(404, '')} />
  if (!mayOpen(workspaceId, section)) return <ErrorState error={new ApiError(403, '')} />
  const { title, help } = t.settings.sections[section.name]
  const Section = contents[section.name]
  return (
    <>
      <div className={styles.intro}>
        <h2>{title}</h2>
        <p>{help}</p>
      </div>
      <Section />
    </>
  )
}
