//! Distributions as they are written: `exponential:mean=20us`.

use core::fmt;
use core::str::FromStr;

use super::super::duration::{format_ns, parse_ns};
use super::{Origin, Service, ServiceError, Shape};

/// How each kind is written, for messages.
const KINDS: &str = "constant:size=20us, exponential:mean=20us, bimodal:short=10us,long=10ms,part=0.005, \
                     pareto:alpha=1.1,min=10us,max=100ms";

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Shape::Exponential { mean } => write!(f, "exponential:mean={}", format_ns(*mean)),
            Shape::Pareto { alpha, least, most } => {
                write!(f, "pareto:alpha={alpha},min={},max={}", format_ns(*least), format_ns(*most))
            }
            Shape::Atoms { origin, atoms } => match (origin, &atoms.sizes[..]) {
                (Origin::Bimodal { part }, [short, long]) => {
                    write!(f, "bimodal:short={},long={},part={part}", format_ns(*short), format_ns(*long))
                }
                (Origin::Sample { jobs }, _) => write!(f, "a sample of {jobs} jobs"),
                (_, sizes) => write!(f, "constant:size={}", format_ns(sizes[0])),
            },
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Service({self})")
    }
}

impl FromStr for Service {
    type Err = ServiceError;

    fn from_str(text: &str) -> Result<Self, ServiceError> {
        let (kind, fields) = text.split_once(':').unwrap_or((text, ""));
        match kind {
            "constant" => {
                let [size] = read(fields, ["size"])?;
                Self::constant(whole(time(size)?))
            }
            "exponential" => {
                let [mean] = read(fields, ["mean"])?;
                Self::exponential(time(mean)?)
            }
            "bimodal" => {
                let [short, long, part] = read(fields, ["short", "long", "part"])?;
                Self::bimodal(whole(time(short)?), whole(time(long)?), number(part)?)
            }
            "pareto" => {
                let [alpha, least, most] = read(fields, ["alpha", "min", "max"])?;
                Self::bounded_pareto(number(alpha)?, whole(time(least)?), whole(time(most)?))
            }
            _ => Err(spelling(format!("'{kind}' is no distribution; there are {KINDS}"))),
        }
    }
}

fn spelling(problem: String) -> ServiceError {
    ServiceError::Spelling { problem }
}

/// The values of `names`, each of which `fields` must have once, and nothing else.
fn read<'a, const N: usize>(fields: &'a str, names: [&str; N]) -> Result<[&'a str; N], ServiceError> {
    let mut values = [None; N];
    for field in fields.split(',').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let Some(place) = names.iter().position(|wanted| *wanted == name.trim()) else {
            return Err(spelling(format!("'{name}' is not one of {}", names.join(", "))));
        };
        if values[place].replace(value.trim()).is_some() {
            return Err(spelling(format!("{name} is given twice")));
        }
    }
    if let Some(missing) = values.iter().position(Option::is_none) {
        return Err(spelling(format!("{} is missing; write {}", names[missing], example(&names))));
    }
    Ok(values.map(Option::unwrap_or_default))
}

fn example(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name}=…")).collect::<Vec<_>>().join(",")
}

fn time(text: &str) -> Result<f64, ServiceError> {
    parse_ns(text).map_err(|error| spelling(error.to_string()))
}

fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

fn number(text: &str) -> Result<f64, ServiceError> {
    text.parse().map_err(|_| spelling(format!("'{text}' is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "constant:size=20us",
            "exponential:mean=1.5ms",
            "bimodal:short=10us,long=10ms,part=0.005",
            "pareto:alpha=1.1,min=10us,max=100ms",
        ] {
            assert_eq!(text.parse::<Service>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_clearly() {
        let complaint = |text: &str| text.parse::<Service>().unwrap_err().to_string();
        assert!(complaint("gauss").starts_with("'gauss' is no distribution; there are constant:size=20us"));
        assert_eq!(complaint("exponential"), "mean is missing; write mean=…");
        assert_eq!(
            complaint("exponential:mean=20"),
            "'20' is no duration: a number and ns, us, ms or s, such as 20us"
        );
        assert_eq!(complaint("exponential:rate=3"), "'rate' is not one of mean");
        assert_eq!(complaint("constant:size=1us,size=2us"), "size is given twice");
        assert_eq!(complaint("constant:size=0us"), "size must be from 1 ns to 104 days, not 0 ns");
        assert_eq!(complaint("bimodal:short=2us,long=1us,part=0.5"), "short must be less than long");
        assert_eq!(complaint("bimodal:short=1us,long=2us,part=1"), "part must be between 0 and 1, not 1");
        assert_eq!(complaint("pareto:alpha=x,min=1us,max=2us"), "'x' is no number");
        assert_eq!(
            complaint("pareto:alpha=0,min=1us,max=2us"),
            "alpha must be above 0 and at most 100, not 0"
        );
        assert_eq!(Service::sample([]), Err(ServiceError::Empty));
    }
}
