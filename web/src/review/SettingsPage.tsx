import { useReviewSettings } from '../data/team/reviews.ts'
import { ReviewTabs } from '../shared/ReviewTabs.tsx'
import { t } from '../text/index.ts'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { SectionTitle } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { RulesSection } from './RulesSection.tsx'
import { ScorecardSection } from './ScorecardSection.tsx'

/** Which conversations are reviewed, and what reviewers score. */
export function SettingsPage() {
  const query = useReviewSettings(useWorkspaceId())
  return (
    <>
      <PageHeader title={t.common.pages.review}>
        <ReviewTabs />
      </PageHeader>
      <PageBody narrow>
        <QueryBoundary query={query} rows={8}>
          {(settings) => (
            <SectionTitle value="h2">
              <RulesSection settings={settings} />
              <ScorecardSection settings={settings} />
            </SectionTitle>
          )}
        </QueryBoundary>
      </PageBody>
    </>
  )
}
