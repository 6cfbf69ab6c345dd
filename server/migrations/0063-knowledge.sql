-- What the business knows, for its agents and people; see knowledge/article.ts.
create table knowledge_articles (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  kind text not null check (kind in ('article', 'answer')),
  status text not null check (status in ('draft', 'published', 'archived')),
  -- Two or three letters, such as `pt`.
  language text not null check (language ~ '^[a-z]{2,3}$'),
  title text not null,
  -- Markdown.
  body text not null,
  tags text[] not null,
  -- Keys that can read it; null: all with the scope.
  key_ids uuid[],
  valid_from timestamptz(3),
  valid_until timestamptz(3),
  source text not null check (source in ('app', 'api', 'import', 'site', 'conversation')),
  -- What an import recognizes it by: the address of a page, or the path of a file.
  source_address text,
  -- Counts changes. `knowledge_versions` has the text of each.
  version integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  published_at timestamptz(3),
  -- Who changed it last.
  actor_type text not null check (actor_type in ('user', 'token', 'agent')),
  actor_id uuid not null,
  -- Words of the title, the tags and the text, and of the title alone. Both contain a word for the workspace, so that a
  -- search reads only its own part of the index.
  search tsvector not null,
  title_search tsvector not null,
  primary key (workspace_id, id)
);
create unique index knowledge_articles_source on knowledge_articles (workspace_id, source_address)
where source_address is not null;
create index knowledge_articles_updated on knowledge_articles (workspace_id, updated_at desc, id desc);
create index knowledge_articles_language on knowledge_articles (workspace_id, language);
-- Without a list of pending entries: a search would read it as a whole.
create index knowledge_articles_search on knowledge_articles using gin (search, title_search) with (fastupdate = off);

-- The newest versions of each article, with the current one.
create table knowledge_versions (
  workspace_id uuid not null,
  article_id uuid not null,
  version integer not null,
  language text not null,
  title text not null,
  body text not null,
  tags text[] not null,
  created_at timestamptz(3) not null,
  actor_type text not null check (actor_type in ('user', 'token', 'agent')),
  actor_id uuid not null,
  primary key (workspace_id, article_id, version),
  foreign key (workspace_id, article_id) references knowledge_articles (workspace_id, id) on delete cascade
);

-- Articles that are made of conversations. Customers' text, so encrypted and never found by a search: it becomes an
-- article when a person publishes it.
create table knowledge_drafts (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  conversation_id uuid not null,
  content bytea not null,
  created_at timestamptz(3) not null,
  actor_type text not null check (actor_type in ('user', 'token')),
  actor_id uuid not null,
  primary key (workspace_id, id)
);
-- One for each conversation.
create unique index knowledge_drafts_conversation on knowledge_drafts (workspace_id, conversation_id);

-- Vectors of articles for the search by meaning, if an endpoint is set. As numbers, because not every database has the
-- type of pgvector; a query converts them.
create table knowledge_embeddings (
  workspace_id uuid not null,
  article_id uuid not null,
  -- Version of the article, and model, that it was computed of.
  version integer not null,
  model text not null,
  embedding real[] not null,
  primary key (workspace_id, article_id),
  foreign key (workspace_id, article_id) references knowledge_articles (workspace_id, id) on delete cascade
);
