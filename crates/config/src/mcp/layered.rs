//! The servers of our own files, layer by layer: what a project says of a server is never mixed with what the user says of it.

use serde::Deserialize;

use crate::settings::McpServer;
use crate::tree::{Member, Node, Table, Value};
use crate::{Layer, Trusted, check};

/// A server of one layer, as it was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Layered {
    pub(crate) layer: Layer,
    pub(crate) name: String,
    pub(crate) member: Member,
}

const WAY: [&str; 2] = ["mcp", "servers"];

/// The servers that a layer has.
pub(crate) fn of_layer(layer: Layer, tree: &Node) -> Vec<Layered> {
    let servers = tree.find(&WAY).and_then(Node::table).into_iter().flatten();
    servers.map(|(name, member)| Layered { layer, name: name.clone(), member: member.clone() }).collect()
}

/// Adds the servers of a file. Where the user's own says something of a server and not how it is reached, it changes the weaker ones.
pub(crate) fn add_layer(all: &mut Vec<Layered>, layer: Layer, trusted: Trusted, tree: &Node) {
    let is_own = match layer {
        Layer::ProjectLocal => trusted == Trusted::Yes,
        Layer::Given => true,
        Layer::BuiltIn | Layer::User | Layer::Project | Layer::Environment | Layer::Flags => false,
    };
    let is_whole =
        |server: &Layered| ["command", "url"].iter().any(|key| server.member.node.find(&[key]).is_some());
    for new in of_layer(layer, tree) {
        if is_whole(&new) || !is_own { all.push(new) } else { change(all, new) }
    }
}

/// Adds what variables and flags say: to each server of that name, which they change, else as one of its own.
pub(crate) fn patch(all: &mut Vec<Layered>, layer: Layer, tree: &Node) {
    for new in of_layer(layer, tree) {
        change(all, new);
    }
}

fn change(all: &mut Vec<Layered>, new: Layered) {
    if !all.iter().any(|there| there.name == new.name) {
        return all.push(new);
    }
    for server in all.iter_mut().filter(|there| there.name == new.name) {
        server.member.node.merge(new.member.node.clone());
    }
}

/// The server as it was written; or what is wrong with it.
pub(crate) fn server(Layered { name, member, .. }: &Layered) -> Result<McpServer, String> {
    let mut tree = around(name, member);
    if let Some(problem) = check::check(&mut tree).first() {
        return Err(problem.text.clone());
    }
    let keys = [WAY[0], WAY[1], name.as_str()];
    let node = tree.find(&keys).unwrap_or(&member.node);
    McpServer::deserialize(node.to_toml()).map_err(|error| error.message().to_owned())
}

/// A whole tree with this server alone.
fn around(name: &str, member: &Member) -> Node {
    let in_table = |key: &str, node: Node| {
        let member = Member { key: node.origin.clone(), node };
        Node { origin: member.key.clone(), value: Value::Table(Table::from([(key.to_owned(), member)])) }
    };
    in_table(WAY[0], in_table(WAY[1], in_table(name, member.node.clone())))
}
