//! Queues and shares as they are written: `background:1:100us:qlas`, `9:1`.

use std::str::FromStr;

use clockworker_schedulers::Share;
use clockworker_schedulers::simulate::Policy;

use crate::per_queue::Time;

/// A queue as it is asked for.
#[derive(Clone, Debug)]
pub(crate) struct QueueSpec {
    pub(crate) name: String,
    pub(crate) share: Share,
    /// The service it asks for per turn; `None` for the executor's default.
    pub(crate) request: Option<Time>,
    /// Its scheduler; `None` for those to be tried.
    pub(crate) scheduler: Option<Policy>,
}

impl QueueSpec {
    /// The queue where none is asked for.
    pub(crate) fn only() -> Self {
        Self { name: "all".to_owned(), share: Share::default(), request: None, scheduler: None }
    }
}

impl FromStr for QueueSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut fields = text.split(':').map(str::trim);
        let name = fields.next().filter(|name| !name.is_empty() && !name.contains(['=', ' ']));
        let name = name.ok_or_else(|| "a queue is NAME:SHARE[:REQUEST][:SCHEDULER]".to_owned())?;
        let mut spec = Self { name: name.to_owned(), ..Self::only() };
        spec.share = share(fields.next().unwrap_or("1"))?;
        for field in fields {
            match (Policy::named(field), field.parse::<Time>()) {
                (Some(policy), _) if spec.scheduler.is_none() => spec.scheduler = Some(policy),
                (None, Ok(time)) if spec.request.is_none() => spec.request = Some(time),
                _ => return Err(format!("'{field}' is neither a request, such as 100us, nor a scheduler")),
            }
        }
        Ok(spec)
    }
}

fn share(text: &str) -> Result<Share, String> {
    let number = text.parse::<u32>().map_err(|_| format!("'{text}' is no share: a whole number"))?;
    Share::new(number).map_err(|error| error.to_string())
}

/// The shares of the queues, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shares(pub(crate) Vec<Share>);

impl FromStr for Shares {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(':').map(share).collect::<Result<_, _>>().map(Shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_read() {
        let spec: QueueSpec = "back:3:100us:qlas".parse().unwrap();
        assert_eq!((&spec.name[..], spec.share.get(), spec.request), ("back", 3, Some(Time(100_000))));
        assert_eq!(spec.scheduler.unwrap().name(), "qlas");
        let spec: QueueSpec = "back:3:las".parse().unwrap();
        assert_eq!((spec.request, spec.scheduler.unwrap().name()), (None, "las"));
        let spec: QueueSpec = "back".parse().unwrap();
        assert_eq!((spec.share, spec.request), (Share::default(), None));
    }

    #[test]
    fn nonsense_is_refused() {
        let complaint = |text: &str| text.parse::<QueueSpec>().unwrap_err();
        assert_eq!(complaint(":1"), "a queue is NAME:SHARE[:REQUEST][:SCHEDULER]");
        assert_eq!(complaint("a:x"), "'x' is no share: a whole number");
        assert_eq!(complaint("a:0"), "a share is between 1 and 1000000, not 0");
        assert_eq!(complaint("a:1:cfs"), "'cfs' is neither a request, such as 100us, nor a scheduler");
        assert!("a:1:las:qlas".parse::<QueueSpec>().is_err() && "9:x".parse::<Shares>().is_err());
        assert_eq!("9:1".parse::<Shares>().unwrap().0.len(), 2);
    }
}
