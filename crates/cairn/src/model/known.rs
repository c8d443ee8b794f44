//! The providers that are known without being declared: what each speaks, where it stands, whether it
//! needs a key. Which variables hold a key comes from the catalogue. Reads nothing itself.

use cairn_provider::catalogue::Catalogue;
use cairn_provider::http::Wire;

/// Where a provider stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the net; it needs a key.
    Net(&'static str),
    /// On this machine; it needs no key.
    Here(&'static str),
    /// Wherever the user says; it needs a key.
    Told,
}

/// A known provider.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name, which is the catalogue's where that lists it.
    pub name: &'static str,
    /// What it speaks at its own place.
    pub wire: Wire,
    /// Where that is.
    pub place: Place,
    /// The variable that says where it is instead.
    pub url_env: Option<&'static str>,
}

const fn net(name: &'static str, url: &'static str) -> Known {
    Known { name, wire: Wire::Chat, place: Place::Net(url), url_env: None }
}

const fn here(name: &'static str, url: &'static str) -> Known {
    Known { name, wire: Wire::Chat, place: Place::Here(url), url_env: None }
}

/// All of them, the most usual first.
pub const KNOWN: &[Known] = &[
    Known {
        name: "openai",
        wire: Wire::Responses,
        place: Place::Net("https://api.openai.com/v1"),
        url_env: Some("OPENAI_BASE_URL"),
    },
    Known {
        name: "anthropic",
        wire: Wire::Anthropic,
        place: Place::Net("https://api.anthropic.com"),
        url_env: Some("ANTHROPIC_BASE_URL"),
    },
    Known {
        name: "google",
        wire: Wire::Gemini,
        place: Place::Net("https://generativelanguage.googleapis.com"),
        url_env: None,
    },
    net("openrouter", "https://openrouter.ai/api/v1"),
    Known { name: "azure", wire: Wire::Responses, place: Place::Told, url_env: None },
    here("ollama", "http://127.0.0.1:11434/v1"),
    here("lmstudio", "http://127.0.0.1:1234/v1"),
    here("llamacpp", "http://127.0.0.1:8080/v1"),
    here("vllm", "http://127.0.0.1:8000/v1"),
    net("groq", "https://api.groq.com/openai/v1"),
    net("mistral", "https://api.mistral.ai/v1"),
    net("deepseek", "https://api.deepseek.com"),
    net("xai", "https://api.x.ai/v1"),
    net("cerebras", "https://api.cerebras.ai/v1"),
    net("togetherai", "https://api.together.xyz/v1"),
    net("fireworks-ai", "https://api.fireworks.ai/inference/v1"),
    net("moonshotai", "https://api.moonshot.ai/v1"),
    net("zai", "https://api.z.ai/api/paas/v4"),
    net("alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
    net("ollama-cloud", "https://ollama.com/v1"),
    net("nvidia", "https://integrate.api.nvidia.com/v1"),
    net("huggingface", "https://router.huggingface.co/v1"),
    net("github-models", "https://models.github.ai/inference"),
    net("perplexity", "https://api.perplexity.ai"),
    net("cohere", "https://api.cohere.ai/compatibility/v1"),
];

/// Other names that people have for them.
const ALIASES: &[(&str, &str)] = &[
    ("gemini", "google"),
    ("together", "togetherai"),
    ("fireworks", "fireworks-ai"),
    ("moonshot", "moonshotai"),
    ("z.ai", "zai"),
    ("dashscope", "alibaba"),
];

/// The provider of this name.
pub fn find(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// The local servers: name and endpoint.
pub fn local() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.iter().filter_map(|known| match known.place {
        Place::Here(url) => Some((known.name, url)),
        Place::Net(_) | Place::Told => None,
    })
}

/// The name under which a provider is known; any other stays as it is.
pub fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name)
}

/// The name and the other names of a provider.
pub fn names(name: &str) -> impl Iterator<Item = &str> {
    let others = ALIASES.iter().filter(move |(_, known)| *known == name).map(|(alias, _)| *alias);
    std::iter::once(name).chain(others)
}

impl Known {
    /// Its own endpoint.
    pub fn url(&self) -> Option<&'static str> {
        match self.place {
            Place::Net(url) | Place::Here(url) => Some(url),
            Place::Told => None,
        }
    }

    /// Whether it answers nobody without a key.
    pub fn needs_key(&self) -> bool {
        !matches!(self.place, Place::Here(_))
    }

    /// The variables that usually hold its key, the first that is set wins.
    pub fn key_variables(&self) -> Vec<String> {
        match (Catalogue::provider(self.name), self.name) {
            (Some(listed), _) => listed.env,
            (None, "azure") => vec!["AZURE_OPENAI_API_KEY".to_owned()],
            (None, _) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_provider_is_known_at_its_listed_place_and_has_a_key_variable() {
        for id in Catalogue::bundled().providers() {
            let known = find(&id).unwrap_or_else(|| panic!("{id} is not known"));
            let listed = Catalogue::provider(&id).unwrap();
            if let Some(api) = listed.api {
                assert_eq!(known.url(), Some(api.trim_end_matches('/')), "{id}");
            }
            assert!(!known.key_variables().is_empty(), "{id}");
        }
    }

    #[test]
    fn who_needs_a_key_says_where_it_comes_from_and_nobody_has_two_names() {
        for known in KNOWN {
            assert!(!known.needs_key() || !known.key_variables().is_empty(), "{}", known.name);
            assert_eq!(canonical(known.name), known.name);
            assert_eq!(KNOWN.iter().filter(|other| other.name == known.name).count(), 1);
        }
        assert!(ALIASES.iter().all(|(alias, name)| find(alias).is_none() && find(name).is_some()));
        assert_eq!(find("google").unwrap().key_variables()[2], "GEMINI_API_KEY");
        assert_eq!(find("azure").unwrap().key_variables(), ["AZURE_OPENAI_API_KEY"]);
    }
}
